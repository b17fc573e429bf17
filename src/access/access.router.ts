import { member, router } from '../core/trpc.ts';
import { Explanation, explainInput } from './explain.schema.ts';
import { explainAccess } from './explain.service.ts';

export const accessRouter = router({
  explain: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/access/explain',
        tags: ['access'],
        summary:
          'Which rule decides whether somebody has a permission, or a right to a resource; others only for administrators',
      },
      access: 'member',
    })
    .input(explainInput)
    .output(Explanation)
    .query(({ ctx, input }) => explainAccess(ctx.scope, input)),
});
