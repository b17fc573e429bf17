import { z } from 'zod';
import { administrator, router } from '../core/trpc/trpc.ts';
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
        summary: 'List what an account may read',
        description:
          'Returns the groups of the account and the tools and records of models that it may read as owner, ' +
          'by grants, or as an administrator, ordered by name. `total` counts all of the server. This ' +
          'version has no knowledge, so that list is empty.',
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
        summary: 'List what membership of a group allows',
        description:
          'Returns the tools and records of models that grants to the group, to groups above it or to `*` ' +
          'allow, ordered by name, and three trees of permissions: those of the group, those of all ' +
          'accounts and of the groups above, and all together. `total` counts all of the server. This version has no knowledge, so that list is empty.',
      },
      access: 'administrator',
    })
    .input(byId)
    .output(GroupPreview)
    .query(({ ctx, input }) => previewGroup(ctx.scope, input.id)),
});
