import type { FailureData } from './errordata.ts';

/** One thing that is wrong with an input: `path` is dotted, `message` says what was expected there. */
export type Issue = NonNullable<FailureData['issues']>[number];

/**
 * What went wrong, as a stable word. Beside the service's own codes: `unreachable` (no answer of the service came,
 * though perhaps a proxy's), `token_unavailable` (the function for it failed), `aborted` (by the call's own signal) and
 * `closed` (the client is).
 */
export type ErrorCode =
  | FailureData['error_code']
  | 'unreachable'
  | 'token_unavailable'
  | 'aborted'
  | 'closed';

/** What every call and subscription of this client fails with. */
export interface ParleyError extends Error {
  readonly name: 'ParleyError';
  /** The HTTP status; 0 when no answer of the service came. */
  readonly status: number;
  readonly code: ErrorCode;
  /** One sentence that a person can act on; the same as `message`. */
  readonly detail: string;
  /** Everything that is wrong with the input, when the code is `validation`; else empty. */
  readonly issues: readonly Issue[];
  /** Names an unexpected failure in the server's log; null for all others. */
  readonly requestId: string | null;
}

/**
 * Whether a caught value is a failure of this client, and so has `status`, `code`, `detail` and `issues`.
 *
 * Goes by the name, because two copies of the package may meet in one program.
 */
export function isParleyError(error: unknown): error is ParleyError {
  return error instanceof Error && error.name === 'ParleyError';
}
