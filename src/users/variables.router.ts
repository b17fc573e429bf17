import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { text } from '../core/wire.ts';
import { getVariables, replaceVariables } from './variables.service.ts';

const VALUE_BYTES = 20_000;
const key = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, and _ . -');

const Variables = z
  .object({ variables: z.record(z.string(), z.string()) })
  .meta({ id: 'UserVariables', description: 'Texts that the prompts of a person may name, by their keys' });

export const variablesRouter = router({
  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/variables',
        tags: ['users'],
        summary: "The caller's variables for prompts",
      },
      access: 'member',
    })
    .output(Variables)
    .query(({ ctx }) => getVariables(ctx.scope)),

  update: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/variables/update',
        tags: ['users'],
        summary: "Replace all of the caller's variables for prompts",
      },
      access: 'member',
    })
    .input(z.object({ variables: z.record(key, text(VALUE_BYTES)).default({}) }))
    .output(Variables)
    .mutation(({ ctx, input }) => replaceVariables(ctx.scope, input.variables)),
});
