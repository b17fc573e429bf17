import type { AnyRouter } from '@trpc/server';
import type { $ZodType } from 'zod/v4/core';
import type { Context } from '../../core/trpc/admission.ts';
import type { Meta } from '../../core/trpc/meta.ts';

interface CallOptions {
  ctx: Context;
  path: string;
  type: ProcedureType;
  input: undefined;
  getRawInput: () => Promise<unknown>;
  signal: AbortSignal | undefined;
  batchIndex: number;
}

export type ProcedureType = 'query' | 'mutation' | 'subscription';

/** A procedure as doors see it: its declaration and its call. */
export interface Procedure {
  /** Dotted, as the typed client names it: `tools.create`. */
  path: string;
  type: ProcedureType;
  meta: Meta | undefined;
  /** One schema for each `.input()`; tRPC merges what they parse. */
  inputs: readonly $ZodType[];
  output: $ZodType | undefined;
  call(options: CallOptions): Promise<unknown>;
}

/** All procedures of a router, nested ones included, in the order of their declaration. */
export function listProcedures(router: AnyRouter): Procedure[] {
  // tRPC keeps inputs, output and the call out of its public types. Only this function reads them.
  const procedures = router._def.procedures as unknown as Record<
    string,
    Procedure['call'] & { _def: Pick<Procedure, 'type' | 'meta' | 'inputs' | 'output'> }
  >;
  return Object.entries(procedures).map(([path, call]) => {
    const { type, meta, inputs, output } = call._def;
    return { path, type, meta, inputs, output, call };
  });
}
