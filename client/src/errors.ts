import type { FailureData } from './errordata.ts';

/** One problem of an input: `path` is dotted, `message` says what was expected there. */
export type Issue = NonNullable<FailureData['issues']>[number];

/**
 * The stable code of an error. Beside the codes of the service: `unreachable` (no answer of the service,
 * though perhaps one of a proxy), `token_unavailable` (the token function failed), `aborted` (by the signal
 * of the call) and `closed` (the client was closed).
 */
export type ErrorCode =
  | FailureData['error_code']
  | 'unreachable'
  | 'token_unavailable'
  | 'aborted'
  | 'closed';

/** The error of every failed call and subscription of this client. */
export interface ParleyError extends Error {
  readonly name: 'ParleyError';
  /** The HTTP status; 0 without an answer of the service. */
  readonly status: number;
  readonly code: ErrorCode;
  /** One sentence for the user; the same as `message`. */
  readonly detail: string;
  /** All problems of the input, when the code is `validation`; otherwise empty. */
  readonly issues: readonly Issue[];
  /** Identifies an unexpected failure in the server's log; null for all others. */
  readonly requestId: string | null;
}

/**
 * True for a failure of this client, which has `status`, `code`, `detail` and `issues`.
 *
 * Checks the name, because one program may have two copies of the package.
 */
export function isParleyError(error: unknown): error is ParleyError {
  return error instanceof Error && error.name === 'ParleyError';
}
