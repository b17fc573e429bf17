import { z } from 'zod';
import { effectivePermissions } from '../access/permissions.ts';
import { Permissions } from '../configs/permissions.schema.ts';
import { administrator, member, router } from '../core/trpc.ts';
import { freeForm, id, label } from '../core/wire.ts';
import { pageInput, pageOf } from './people.schema.ts';
import { getDetail, knownUserId, listUsers } from './people.service.ts';
import { deleteUser } from './users.delete.service.ts';
import {
  emailInput,
  givenAccountForm,
  imageUrl,
  newPassword,
  personName,
  RoleAtom,
  UserDetail,
  UserListing,
  UserView,
} from './users.schema.ts';
import { createUser, updateUser } from './users.service.ts';

export const usersRouter = router({
  list: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users',
        tags: ['users'],
        summary: 'List accounts, 30 a page, the newest first unless another order is asked for',
      },
      access: 'administrator',
    })
    .input(pageInput)
    .output(pageOf(UserListing))
    .query(({ ctx, input }) => listUsers(ctx.scope, input)),

  create: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/users',
        tags: ['users'],
        summary: 'Create an account',
        status: 201,
      },
      access: 'administrator',
    })
    .input(
      z.object({
        ...givenAccountForm,
        username: personName().nullish(),
        oauth: freeForm().nullish(),
      }),
    )
    .output(UserView)
    .mutation(({ ctx, input }) => createUser(ctx.scope, input)),

  permissions: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/permissions',
        tags: ['users'],
        summary: 'What the caller may: what everybody may, and what their groups give besides',
      },
      access: 'member',
    })
    .output(Permissions)
    .query(({ ctx }) => effectivePermissions(ctx.scope)),

  get: administrator
    .meta({
      openapi: { method: 'GET', path: '/users/{id}', tags: ['users'], summary: 'Get an account' },
      access: 'administrator',
    })
    // A word, such as that of a path which does not exist, is the id of no account.
    .input(z.object({ id: label() }))
    .output(UserDetail)
    .query(({ ctx, input }) => getDetail(ctx.scope, knownUserId(input.id))),

  update: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/{id}/update',
        tags: ['users'],
        summary: 'Change an account; a new role or password ends its sessions',
      },
      access: 'administrator',
    })
    .input(
      z.object({
        id: id(),
        role: RoleAtom.optional(),
        name: personName().optional(),
        email: emailInput().optional(),
        profile_image_url: imageUrl().optional(),
        password: newPassword().optional(),
      }),
    )
    .output(UserView)
    .mutation(({ ctx, input }) => updateUser(ctx.scope, input)),

  delete: administrator
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/{id}',
        tags: ['users'],
        summary: 'Delete an account; what others use of it passes to the caller',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteUser(ctx.scope, input.id)),
});
