import { z } from 'zod';
import { administrator, member, router } from '../core/trpc/trpc.ts';
import { budgetsQuery, ownQuery, UsageBudget, UsageLimit, UsageSum, usageQuery } from './usage.schema.ts';
import { listBudgets, listOwnLimits, listOwnUsage, listUsage } from './usage.service.ts';

const KEPT =
  'Calls are kept for `USAGE_RETENTION_DAYS`, 365 days unless configured. Those of deleted accounts stay, without the name.';

export const usageRouter = router({
  list: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/usage/days',
        tags: ['usage'],
        summary: 'Sum up the use of models by day',
        description: `The last day first, split by account, model, connection or kind of calls. ${KEPT}`,
      },
      access: 'administrator',
    })
    .input(usageQuery)
    .output(z.object({ items: z.array(UsageSum) }))
    .query(({ ctx, input }) => listUsage(ctx.scope, input)),

  budgets: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/usage/budgets',
        tags: ['usage'],
        summary: 'List how much of the limits is used, by whom',
        description:
          'Each limit of `usage.limits` in its window of now, with the accounts, groups and models that have used ' +
          'something of it, reservations of running calls included; the largest share first.',
      },
      access: 'administrator',
    })
    .input(budgetsQuery)
    .output(z.object({ items: z.array(UsageBudget) }))
    .query(({ ctx, input }) => listBudgets(ctx.scope, input)),

  own: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/usage/own',
        tags: ['usage'],
        summary: 'Sum up your own use of models by day',
        description: `As \`GET /usage/days\`, for the calls of the caller. ${KEPT}`,
      },
      access: 'member',
    })
    .input(ownQuery)
    .output(z.object({ items: z.array(UsageSum) }))
    .query(({ ctx, input }) => listOwnUsage(ctx.scope, input)),

  limits: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/usage/limits',
        tags: ['usage'],
        summary: 'List your limits on the use of models',
        description:
          'The limits of the configuration (`usage.limits`) that hold for the caller, what is used of them in the window ' +
          'of now, reservations of running calls included, and when it ends. Limits on each model are left out.',
      },
      access: 'member',
    })
    .output(z.object({ items: z.array(UsageLimit) }))
    .query(({ ctx }) => listOwnLimits(ctx.scope)),
});
