import { z } from 'zod';
import { member, router } from '../core/trpc/trpc.ts';
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
        summary: "Get the caller's variables for prompts",
        description:
          'Texts by their keys; empty if none were stored. The server only keeps them: clients fill ' +
          'them into prompts.',
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
        summary: "Replace the caller's variables for prompts",
        description:
          'Replaces the whole set: a key that is not sent is deleted, and an empty body deletes all. A ' +
          'text has at most 20,000 bytes, the set 100,000 bytes as JSON; more is refused with 400. ' +
          'Answers the stored set.',
      },
      access: 'member',
    })
    .input(z.object({ variables: z.record(key, text(VALUE_BYTES)).default({}) }))
    .output(Variables)
    .mutation(({ ctx, input }) => replaceVariables(ctx.scope, input.variables)),
});
