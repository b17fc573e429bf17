import type {
  inferRouterInputs,
  inferRouterOutputs,
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from '@trpc/server';
import type { appRouter } from '../../src/router.ts';

const published = publish<typeof appRouter>();

/**
 * The service's router as a client sees it: paths, inputs, outputs and errors, without what only the server knows (its
 * context and meta would drag the types of its database and HTTP server into every consumer).
 *
 * It is the type of an inferred constant because the compiler writes such a type out in full, so that the published
 * declarations stand on their own. Nothing loads this file at run time.
 */
export type AppRouter = typeof published;

/** What each procedure takes: `RouterInputs['channels']['create']`. */
export type RouterInputs = inferRouterInputs<AppRouter>;
/** What each procedure answers: `RouterOutputs['tools']['invoke']`. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;

declare function publish<Router>(): Published<Router>;

// No alias below may name an object type itself: declarations would then hold the alias, not what it stands for.
type Published<Router> = Router extends {
  _def: { _config: { $types: { errorShape: infer Shape } }; record: infer Nouns };
}
  ? TRPCBuiltRouter<
      { ctx: object; meta: object; errorShape: Expanded<Shape>; transformer: false },
      { [Name in keyof Nouns]: PublishedEntry<Nouns[Name]> }
    >
  : never;

type PublishedEntry<Entry> = Entry extends {
  _def: { type: infer Type; $types: { input: infer Input; output: infer Output } };
}
  ? Type extends 'query'
    ? TRPCQueryProcedure<{ meta: object; input: Input; output: Output }>
    : Type extends 'mutation'
      ? TRPCMutationProcedure<{ meta: object; input: Input; output: Output }>
      : TRPCSubscriptionProcedure<{ meta: object; input: Input; output: Output }>
  : Entry extends object
    ? { [Name in keyof Entry]: PublishedEntry<Entry[Name]> }
    : never;

type Expanded<T> = T extends object ? { [Member in keyof T]: Expanded<T[Member]> } : T;
