import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';
import { name } from '../core/wire.ts';

const amount = z.number().min(0);

export const Price = z.looseObject({
  in: amount.describe('For a million tokens of requests'),
  out: amount.describe('For a million tokens of answers'),
  cached: amount
    .optional()
    .describe('For a million tokens of requests that the provider had cached; as `in` unless given'),
});
export type Price = z.infer<typeof Price>;

export const Limit = z
  .looseObject({
    scope: z.enum(['user', 'group', 'model', 'all']),
    id: name()
      .optional()
      .describe('An account, a group, or a model (`*` stands for any characters); each one unless given'),
    each: z.boolean().optional().describe('Every account has the limit for itself'),
    requests: z.int().min(0).optional(),
    tokens: z.int().min(0).optional().describe('Of requests and answers together'),
    cost: amount.optional().describe('By `usage.prices`'),
    per: z.enum(['minute', 'day', 'month']).describe('Windows of UTC'),
  })
  .refine(
    ({ requests, tokens, cost }) => (requests ?? tokens ?? cost) !== undefined,
    'needs requests, tokens or cost',
  );
export type Limit = z.infer<typeof Limit>;

export const terms = defineTerms({
  sections: {
    usage: {
      schema: z.looseObject({ prices: z.record(name(), Price), limits: z.array(Limit).max(100) }).optional(),
      defaults: { prices: {}, limits: [] },
      settings: {
        prices: server('Prices of models, by their ids or patterns with `*`'),
        limits: server('Budgets of accounts, groups and models'),
      },
    },
  },
});
