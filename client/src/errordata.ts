import type { appRouter } from '../../src/router.ts';

// The type of an inferred constant, for the reason that `api.ts` gives.
const failure = describeFailure<typeof appRouter>();

/** What the service says about a failed call. */
export type FailureData = typeof failure;

declare function describeFailure<Router>(): Router extends {
  _def: { _config: { $types: { errorShape: { data: infer Data } } } };
}
  ? { [Member in keyof Data]: Spelt<Data[Member]> }
  : never;

// The compiler writes a union under its name where it has one. A union of words that were changed and changed back has none.
type Spelt<T> = Marked<T> extends infer M ? (M extends `.${infer Word}` ? Word : Expanded<M>) : never;
type Marked<T> = T extends string ? `.${T}` : T;

type Expanded<T> = T extends object ? { [Member in keyof T]: Expanded<T[Member]> } : T;
