import { describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { safeParse } from 'zod/v4/core';
import { joinShapes } from '../../src/core/schema/schema.ts';
import type { Context } from '../../src/core/trpc/admission.ts';
import { listProcedures, type Procedure } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';

/* Null in place of an optional member counts as not sent, for every input (contract.md, "null"). */

const administrator = { id: 'a', role: 'admin', sessionId: 's', granted: [] };
/** Just enough parts to reach the input; the procedure itself fails after it. */
const ctx = {
  parts: {
    authenticate: () => administrator,
    room: { require: () => {} },
    configs: { current: { channels: { enable: true } } },
  },
  request: { id: '' },
  credentials: { token: '', via: 'bearer' },
  reply: { outlet: {} },
} as unknown as Context;

/** The dotted paths of the refused members. */
async function refusedAt({ call, path, type }: Procedure, input: object): Promise<string[]> {
  const options = { ctx, path, type, input: undefined, signal: undefined, batchIndex: 0 };
  const error = await call({ ...options, getRawInput: async () => input }).then(
    () => undefined,
    ({ cause }: Error) => cause,
  );
  return error instanceof ZodError ? error.issues.map((issue) => issue.path.join('.')) : [];
}

const cases = listProcedures(appRouter).flatMap((procedure) => {
  const members = [...(joinShapes(procedure.inputs) ?? [])];
  const optional = members.filter(([, schema]) => safeParse(schema, undefined).success).map(([name]) => name);
  // A member that is required keeps the procedure from doing anything.
  return optional.length > 0 && optional.length < members.length ? [{ ...procedure, optional }] : [];
});

describe('null in place of an optional member', () => {
  it('is tested for most inputs', () => expect(cases.length).toBeGreaterThan(30));

  it.each(cases)('counts as not sent: $path', async ({ optional, ...procedure }) => {
    const refused = await refusedAt(procedure, Object.fromEntries(optional.map((name) => [name, null])));
    expect(refused.length).toBeGreaterThan(0);
    expect(optional.filter((name) => refused.includes(name))).toEqual([]);
  });
});
