import { AppError } from '../../core/errors.ts';

/** What errors of the SDK, of Node's sockets and of credentials have. */
interface Failed extends Error {
  code?: unknown;
  $metadata?: { httpStatusCode?: number };
}

const RETRY_SECONDS = 5;

const statusOf = (error: Failed): number | undefined => error.$metadata?.httpStatusCode;

/** There is no such object. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && statusOf(error) === 404 && error.name !== 'NoSuchBucket';

/** The answer to callers for each error of the bucket; the log has the cause. */
export function unavailable(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const isFull = error instanceof Error && statusOf(error) === 507;
  const options = { retryAfterSeconds: RETRY_SECONDS, cause: error };
  return isFull
    ? new AppError('storage_full', { ...options, detail: 'The store of files has no room left.' })
    : new AppError('unavailable', {
        ...options,
        detail: 'The store of files does not answer. Try again in a moment.',
      });
}

/** The answer of the server, or the SDK's complaint about its settings; undefined for an outage. */
export function faultIn(error: unknown): string | undefined {
  const cause = (error instanceof AppError ? error.cause : error) as Failed;
  const status = statusOf(cause);
  if (status === undefined) return isOfNetwork(cause) ? undefined : cause.message;
  if (status >= 500 || status === 408 || status === 429) return undefined;
  // An answer to HEAD has no text.
  const reason = FAULTS[status] ?? `it answered ${status}`;
  return /^(Unknown|UnknownError|\d+)$/.test(cause.name) ? reason : `${reason} (${cause.name})`;
}

const FAULTS: Record<number, string> = {
  301: 'it is in another region',
  400: 'the request was not understood, so the region may be wrong',
  403: 'the credentials are wrong, or have no right to list, read, write and delete in it',
  404: 'there is no such bucket',
};

/** Sockets, names and time limits. */
const isOfNetwork = ({ code, name }: Failed): boolean =>
  name === 'TimeoutError' || (typeof code === 'string' && /^(E[A-Z]+|CERT_|UNABLE_|DEPTH_)/.test(code));
