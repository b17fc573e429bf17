import type { JobKind } from './jobs/kind.ts';
import { deliverJob } from './webhooks/deliveries.job.ts';

/** The kinds of jobs of all nouns. */
// biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
export const jobKinds: readonly JobKind<any>[] = [deliverJob];
