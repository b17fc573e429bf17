import { z } from 'zod';
import { member, router } from '../core/trpc/trpc.ts';

/** `enable_functions` of `GET /config` is false. The peer answers the same while its functions are switched off. */
export const functionsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/functions',
        tags: ['tools'],
        summary: 'List functions: always an empty list',
        description:
          'For clients that ask for functions before they show a page, such as the editor of models. This version ' +
          'has tools and no functions.',
      },
      access: 'member',
    })
    .output(z.array(z.never()).meta({ examples: [[]] }))
    .query(() => []),
});
