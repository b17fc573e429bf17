import { member, router } from '../core/trpc/trpc.ts';
import { Explanation, explainInput } from './explain.schema.ts';
import { explainAccess } from './explain.service.ts';

export const accessRouter = router({
  explain: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/access/explain',
        tags: ['access'],
        summary: 'Explain why an account has or lacks a right',
        description:
          'Ask either for a `permission`, or for `resource_type` and `resource_id` with a `right`; any ' +
          'other combination answers 400. `user_id` is the caller unless sent; only administrators may ask ' +
          'about other accounts. The answer has the rule that decides, a sentence, and the groups and ' +
          'grants that allow it. An unknown account or resource answers 404.',
        errorResponses: [404],
      },
      access: 'member',
    })
    .input(explainInput)
    .output(Explanation)
    .query(({ ctx, input }) => explainAccess(ctx.scope, input)),
});
