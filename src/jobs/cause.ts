import { z } from 'zod';
import type { Root } from '../core/tracing.ts';
import { currentWork } from '../core/work.ts';

/** The request that has made a job. It stands in the stored payload as `cause`, beside the members of the kind. */
const Cause = z.object({ request_id: z.string().default(''), traceparent: z.string().optional() });
type Cause = z.input<typeof Cause>;

/** Undefined for jobs that the server makes by itself. */
export function causeNow(): Cause | undefined {
  const { requestId, span } = currentWork() ?? {};
  if (!requestId) return undefined;
  return { request_id: requestId, ...(span?.traceparent && { traceparent: span.traceparent }) };
}

const Stored = z.object({ cause: Cause.catch({ request_id: '' }).default({ request_id: '' }) });

/** The id of the request that has made a job, empty if none has, and the beginning of the job's trace. */
export function causeOf(
  stored: unknown,
  kind: string,
  { id, attempts }: { id: string; attempts: number },
): { requestId: string; describe: () => Root } {
  const { request_id: requestId, traceparent: madeBy } = Stored.parse(stored).cause;
  const attributes = {
    'parley.job.id': id,
    'parley.job.attempt': attempts,
    ...(requestId && { 'parley.request_id': requestId }),
  };
  return { requestId, describe: () => ({ name: kind, kind: 'consumer', attributes, madeBy }) };
}
