import type { Failure } from '../core/failure.ts';
import type { Parts } from '../core/scope.ts';

interface Where {
  requestId: string;
  /** The route's pattern or the procedure's path, never the URL: addresses can hold secrets (webhook tokens). */
  route: string | undefined;
}

/** Logs a failure that is ours to mend, with its cause, under the request id that the caller got. */
export function reportFailure(log: Parts['log'], failure: Failure, error: unknown, where: Where): void {
  if (!failure.report) return;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  // The caller hung up, and what was done for it stopped.
  if (cause instanceof Error && cause.name === 'AbortError') return;
  log.error({ err: cause, request_id: where.requestId, route: where.route }, 'request failed');
}
