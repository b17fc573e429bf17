import { TRPCClientError } from '@trpc/client';
import type { AppRouter } from './router.ts';

type ErrorData = AppRouter['_def']['_config']['$types']['errorShape']['data'];

/** One thing that is wrong with an input: `path` is dotted, `message` says what was expected there. */
export type Issue = NonNullable<ErrorData['issues']>[number];

/**
 * What went wrong, as a stable word. Beside the service's own codes: `unreachable` (no answer of the service came, though perhaps a proxy's),
 * `token_unavailable` (the function for it failed), `aborted` (by the call's own signal) and `closed` (the client is).
 */
export type ErrorCode = ErrorData['error_code'] | 'unreachable' | 'token_unavailable' | 'aborted' | 'closed';

interface Description {
  status: number;
  code: ErrorCode;
  issues: readonly Issue[];
  requestId: string | null;
}

/** What every call and subscription of this client fails with. */
export class ParleyError extends TRPCClientError<AppRouter> {
  /** The HTTP status; 0 when no answer of the service came. */
  readonly status: number;
  readonly code: ErrorCode;
  /** One sentence that a person can act on; the same as `message`. */
  readonly detail: string;
  /** Everything that is wrong with the input, when the code is `validation`; else empty. */
  readonly issues: readonly Issue[];
  /** Names an unexpected failure in the server's log; null for all others. */
  readonly requestId: string | null;

  constructor(detail: string, { status, code, issues, requestId }: Description, source?: ErrorSource) {
    super(detail, source);
    // tRPC's constructor sets the prototype to its own class.
    Object.setPrototypeOf(this, ParleyError.prototype);
    this.name = 'ParleyError';
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.issues = issues;
    this.requestId = requestId;
  }
}

type ErrorSource = ConstructorParameters<typeof TRPCClientError<AppRouter>>[1];

/**
 * Whether a caught value is a failure of this client, and so has `status`, `code`, `detail` and `issues`.
 *
 * Goes by the name, because two copies of the package may meet in one program.
 */
export function isParleyError(error: unknown): error is ParleyError {
  return error instanceof Error && error.name === 'ParleyError';
}

const NO_ANSWER: Description = { status: 0, code: 'unreachable', issues: [], requestId: null };

/** The client was closed before the call had its answer. */
export const closedError = () =>
  new ParleyError('The client is closed. Make a new one.', { ...NO_ANSWER, code: 'closed' });

/** The function that gives the token failed. */
export const tokenError = (cause: unknown) =>
  new ParleyError(
    `There is no token: ${cause instanceof Error ? cause.message : cause}`,
    { ...NO_ANSWER, code: 'token_unavailable' },
    cause instanceof Error ? { cause } : {},
  );

/** Whatever a link fails with, in this client's terms. */
export function toParleyError(error: unknown): ParleyError {
  if (isParleyError(error)) return error;
  const source: TRPCClientError<AppRouter> = TRPCClientError.from(asObject(error));
  const { shape, data, meta } = source;
  const origin = { cause: source.cause, meta, ...(shape && { result: { error: shape } }) };
  if (data) {
    const { httpStatus: status, error_code: code, issues = [], request_id: requestId = null } = data;
    return new ParleyError(source.message, { status, code, issues, requestId }, origin);
  }
  if (source.cause?.name === 'AbortError' || source.message === 'Aborted') {
    return new ParleyError('The call was aborted.', { ...NO_ANSWER, code: 'aborted' }, origin);
  }
  return new ParleyError(`No answer from the service: ${source.message}`, NO_ANSWER, origin);
}

const asObject = (error: unknown): object => (error instanceof Object ? error : new Error(String(error)));
