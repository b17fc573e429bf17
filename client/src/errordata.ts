import type { appRouter } from '../../src/router.ts';

// The type of an inferred constant, for the reason that `api.ts` gives.
const failure = describeFailure<typeof appRouter>();

/** What the service says about a failed call. */
export type FailureData = typeof failure;

declare function describeFailure<Router>(): Router extends {
  _def: { _config: { $types: { errorShape: { data: infer Data } } } };
}
  ? Expanded<Data>
  : never;

type Expanded<T> = T extends object ? { [Member in keyof T]: Expanded<T[Member]> } : T;
