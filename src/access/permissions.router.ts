import { DEFAULT_PERMISSIONS, DefaultPermissionTree, Permissions } from '../configs/permissions.schema.ts';
import { administrator, router } from '../core/trpc.ts';
import { replaceDefaultPermissions } from './permissions.service.ts';
import { defaultPermissions } from './permissions.ts';

export const permissionsRouter = router({
  getDefault: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/default/permissions',
        tags: ['users'],
        summary: 'What everybody may',
      },
      access: 'administrator',
    })
    .output(Permissions)
    .query(({ ctx }) => defaultPermissions(ctx.scope)),

  builtIn: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/default/permissions/defaults',
        tags: ['users'],
        summary: 'What every account may in a new installation',
      },
      access: 'administrator',
    })
    .output(Permissions)
    .query(() => DEFAULT_PERMISSIONS),

  setDefault: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/default/permissions',
        tags: ['users'],
        summary: 'Replace what everybody may; leaves that are not sent take their defaults',
      },
      access: 'administrator',
    })
    .input(DefaultPermissionTree)
    .output(Permissions)
    .mutation(({ ctx, input }) => replaceDefaultPermissions(ctx.scope, input)),
});
