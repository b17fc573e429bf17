import type { Api, Mutation, ParleyError, Query, Subscription } from '@parley/client';
import type { TRPCMutationProcedure, TRPCQueryProcedure, TRPCSubscriptionProcedure } from '@trpc/server';

/**
 * The procedures of the published client in the form that tRPC's integration of TanStack Query reads. The page knows the
 * service only through the client, so the types come from there, not from the server's sources.
 */
export interface PageRouter {
  _def: {
    _config: {
      $types: {
        ctx: object;
        meta: object;
        errorShape: ParleyError;
        transformer: false;
      };
      transformer: never;
      pathSeparator: never;
      errorFormatter: never;
      allowOutsideOfServer: boolean;
      isServer: boolean;
      isDev: boolean;
    };
    router: true;
    procedure?: never;
    procedures: never;
    record: ProceduresOf<Api>;
    lazy: never;
  };
  createCaller: never;
}

type ProceduresOf<Entry> = { [Name in keyof Entry]: ProcedureOf<Entry[Name]> };

type ProcedureOf<Entry> =
  Entry extends Query<infer Input, infer Output>
    ? TRPCQueryProcedure<{ input: Input; output: Output; meta: unknown }>
    : Entry extends Mutation<infer Input, infer Output>
      ? TRPCMutationProcedure<{ input: Input; output: Output; meta: unknown }>
      : Entry extends Subscription<infer Input, infer Output>
        ? TRPCSubscriptionProcedure<{ input: Input; output: AsyncIterable<Output>; meta: unknown }>
        : ProceduresOf<Entry>;
