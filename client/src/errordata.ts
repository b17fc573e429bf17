import type { appRouter } from '../../src/router.ts';

// The type of an inferred constant, for the reason in `api.ts`.
const failure = describeFailure<typeof appRouter>();

/** The data of the service about a failed call. */
export type FailureData = typeof failure;

declare function describeFailure<Router>(): Router extends {
  _def: { _config: { $types: { errorShape: { data: infer Data } } } };
}
  ? { [Member in keyof Data]: Spelt<Data[Member]> }
  : never;

// The compiler writes a named union by its name. A union of texts that were changed and changed back has no
// name.
type Spelt<T> = Marked<T> extends infer M ? (M extends `.${infer Word}` ? Word : Expanded<M>) : never;
type Marked<T> = T extends string ? `.${T}` : T;

type Expanded<T> = T extends object ? { [Member in keyof T]: Expanded<T[Member]> } : T;
