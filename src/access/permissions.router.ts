import {
  DEFAULT_PERMISSIONS,
  DefaultPermissionTree,
  Permissions,
} from '../configs/settings/permissions.schema.ts';
import { defaultPermissions } from '../configs/settings/permissions.ts';
import { administrator, router } from '../core/trpc/trpc.ts';
import { replaceDefaultPermissions } from './permissions.service.ts';

export const permissionsRouter = router({
  getDefault: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/default/permissions',
        tags: ['users'],
        summary: 'Get the default permissions of all accounts',
        description:
          'The configured permissions, completed by the built-in ones. Groups only add permissions to ' +
          'these, and administrators have all.',
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
        summary: 'Get the built-in default permissions',
        description:
          'The default permissions of a new installation, as this version defines them. They do not depend ' +
          'on the configuration.',
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
        summary: 'Replace the default permissions of all accounts',
        description:
          'All six sections must be sent: `workspace`, `sharing`, `chat`, `features`, `settings`, ' +
          '`access_grants`. A permission that a section leaves out takes its built-in default. Returns the ' +
          'complete permissions in force, which later calls use at once. 409 means that an environment ' +
          'variable pins a permission that would change.',
        errorResponses: [409],
      },
      access: 'administrator',
    })
    .input(DefaultPermissionTree)
    .output(Permissions)
    .mutation(({ ctx, input }) => replaceDefaultPermissions(ctx.scope, input)),
});
