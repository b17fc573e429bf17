import { APIConnectionError, APIError, APIUserAbortError } from 'openai/core/error';
import { AppError } from '../core/errors.ts';
import { MASK } from '../core/secrets/masks.ts';
import type { Connected } from './connections.settings.ts';

/** Why a call of a connection failed, in our words; the cause holds the words of others. */
export class ProviderFailure extends AppError {
  /** Whether another connection that has the model may succeed. */
  readonly isReplaceable: boolean;
  /** The name of the connection; empty until the connection has noted the failure. */
  connection = '';
  /** The id that the provider gave the call. */
  providerRequestId: string | undefined;

  constructor(
    code: 'provider_failed' | 'provider_timeout' | 'rate_limited' | 'bad_request',
    { isReplaceable, ...options }: ConstructorParameters<typeof AppError>[1] & { isReplaceable: boolean },
  ) {
    super(code, options);
    this.isReplaceable = isReplaceable;
  }
}

const MOST_CHARACTERS = 500;
/** Statuses with which a provider says that the request itself is wrong: its words help the caller. */
const ABOUT_REQUEST: ReadonlySet<number> = new Set([400, 413, 422]);

/** With these codes and types, providers say that the messages do not fit into the context of the model. */
const ABOUT_LENGTH: ReadonlySet<unknown> = new Set(['context_length_exceeded', 'exceed_context_size_error']);
/** The words of the providers that have no code for it. */
const TOO_LONG_WORDS = /^this (model|endpoint)'s maximum context length is/i;

/** Errors of a socket or a name that no client has wrapped. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
]);

export const failed = (detail: string, cause?: unknown): ProviderFailure =>
  new ProviderFailure('provider_failed', { detail, cause, isReplaceable: true });

export const timedOut = (detail: string): ProviderFailure =>
  new ProviderFailure('provider_timeout', { detail, isReplaceable: true });

/**
 * Asks a provider for an answer that does not stream, within a limit of time.
 *
 * @throws provider_timeout at the limit, and what `ask` throws
 */
export async function askWithin<T>(
  { name }: Pick<Connected, 'name'>,
  { ms, signal }: { ms: number; signal: AbortSignal },
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(ms);
  try {
    return await ask(AbortSignal.any([signal, limit]));
  } catch (error) {
    if (!limit.aborted || signal.aborted) throw error;
    throw timedOut(`${name} did not answer within ${ms / 1_000} s.`);
  }
}

export function failureOf(connected: Connected, error: unknown): ProviderFailure {
  const { name } = connected;
  if (error instanceof ProviderFailure) return error;
  if (error instanceof AppError) return failed(error.message, error);
  if (error instanceof APIUserAbortError) return failed(`The call of ${name} was ended.`, error);
  if (error instanceof APIConnectionError)
    return failed(`${name} cannot be reached${reasonOf(error)}.`, error);
  if (error instanceof APIError) return failureOfStatus(connected, error);
  if (UNREACHABLE.has((error as NodeJS.ErrnoException).code ?? ''))
    return failed(`${name} cannot be reached${reasonOf(error)}.`, error);
  if (error instanceof SyntaxError)
    return failed(`${name} sent a piece of its answer that is no JSON.`, error);
  return failed(`${name} broke its answer off${reasonOf(error)}.`, error);
}

function failureOfStatus(connected: Connected, error: APIError): ProviderFailure {
  const { name } = connected;
  const { status, headers } = error;
  const words = wordsOf(error, connected);
  // Sent as a piece of a stream that had begun well.
  if (status === undefined) return failed(`${name} ended its answer with an error${words}`, error);
  if (status === 429) {
    const seconds = Number(headers?.get('retry-after'));
    const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : 10;
    const detail = `${name} accepts no more calls now. Try again later.`;
    return new ProviderFailure('rate_limited', {
      detail,
      retryAfterSeconds,
      cause: error,
      isReplaceable: true,
    });
  }
  if (ABOUT_REQUEST.has(status)) {
    // Coding agents look for "prompt is too long", Anthropic's words: then they shorten the conversation and ask again.
    const reason = isTooLong(error) ? ' because the prompt is too long' : '';
    const detail = `${name} refuses the request${reason}${words}`;
    return new ProviderFailure('bad_request', { detail, cause: error, isReplaceable: false });
  }
  // The words of such a refusal may show a part of the key.
  if (status === 401 || status === 403)
    return failed(`${name} refuses the key of this server (${status}).`, error);
  return failed(`${name} answered ${status}${words}`, error);
}

function isTooLong(error: APIError): boolean {
  return (
    ABOUT_LENGTH.has(error.code) || ABOUT_LENGTH.has(error.type) || TOO_LONG_WORDS.test(saidBy(error) ?? '')
  );
}

function saidBy({ error }: APIError): string | undefined {
  const said = typeof error === 'string' ? error : (error as { message?: unknown } | undefined)?.message;
  return typeof said === 'string' ? said : undefined;
}

/** The provider's own words, bounded and without our secrets, as the end of a sentence. */
function wordsOf(error: APIError, { key, headers }: Connected): string {
  const said = saidBy(error) ?? '';
  if (said.trim() === '') return '.';
  const secrets = [key, ...Object.values(headers)].filter((secret) => secret !== '');
  const words = secrets
    .reduce((text, secret) => text.replaceAll(secret, MASK), said)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  return `: ${words.length > MOST_CHARACTERS ? `${words.slice(0, MOST_CHARACTERS).toWellFormed()}…` : words}`;
}

/** The innermost cause: libraries wrap errors. */
function reasonOf(error: unknown): string {
  let reason = '';
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return `: ${cause.message.replace(/\.$/, '')}`;
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string') reason = ` (${code})`;
  }
  return reason;
}
