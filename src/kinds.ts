import type { JobKind } from './jobs/kind.ts';

/** The kinds of jobs of all nouns. */
// biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
export const jobKinds: readonly JobKind<any>[] = [];
