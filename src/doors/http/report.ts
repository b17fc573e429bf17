import type { Failure } from '../../core/failure.ts';
import { noteDiskFull, outageIn } from '../../core/outage.ts';
import type { Parts } from '../../core/scope.ts';

interface Where {
  requestId: string;
  /** The route's pattern or the procedure's path, never the URL: addresses can hold secrets (webhook tokens). */
  route: string | undefined;
}

/** Logs failures of the server and outages, with their cause. A failure of the server has the request id that the caller got. */
export function reportFailure(log: Parts['log'], failure: Failure, error: unknown, where: Where): void {
  const outage = outageIn(error);
  if (!failure.report && !outage) return;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  // The caller hung up, so its work was stopped.
  if (cause instanceof Error && cause.name === 'AbortError') return;
  if (outage === 'full') noteDiskFull();
  // In an outage all callers get the same answer without a request id: the log merges equal lines (`log.ts`).
  if (outage) log.error({ err: cause, route: where.route }, 'request failed');
  else log.error({ err: cause, request_id: where.requestId, route: where.route }, 'request failed');
}
