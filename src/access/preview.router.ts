import { z } from 'zod';
import { administrator, router } from '../core/trpc.ts';
import { id } from '../core/wire.ts';
import { GroupPreview, UserPreview } from './preview.schema.ts';
import { previewGroup, previewUser } from './preview.service.ts';

const byId = z.object({ id: id() });

export const previewRouter = router({
  user: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/preview',
        tags: ['users'],
        summary: 'What an account may read, by its groups and grants',
      },
      access: 'administrator',
    })
    .input(byId)
    .output(UserPreview)
    .query(({ ctx, input }) => previewUser(ctx.scope, input.id)),

  group: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups/id/{id}/preview',
        tags: ['groups'],
        summary: 'What membership of a group allows',
      },
      access: 'administrator',
    })
    .input(byId)
    .output(GroupPreview)
    .query(({ ctx, input }) => previewGroup(ctx.scope, input.id)),
});
