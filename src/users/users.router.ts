import { z } from 'zod';
import { Permissions } from '../configs/settings/permissions.schema.ts';
import { effectivePermissions } from '../configs/settings/permissions.ts';
import { administrator, member, router } from '../core/trpc/trpc.ts';
import { freeForm, id, label } from '../core/wire.ts';
import { pageInput, pageOf } from './people.schema.ts';
import { getDetail, knownUserId, listUsers } from './people.service.ts';
import { deleteUser } from './users.delete.service.ts';
import {
  givenAccountForm,
  imageUrl,
  newEmail,
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
        summary: 'List accounts',
        description:
          '30 a page unless `limit` says otherwise, the newest first unless `order_by` and `direction` say otherwise; the other ' +
          'orders ascend, except `group_id:<id>`, which puts members of that group first. `query` is a ' +
          'part of the display name, user name or address; `role` narrows the list to one role. `profile_image_url` is always a path of this ' +
          'server. Following `next_cursor` takes the same time at every depth, unlike a high `page`; ' +
          '`total` is left out behind a cursor.',
      },
      access: 'administrator',
    })
    .input(pageInput.extend({ role: RoleAtom.optional().describe('Only accounts with this role') }))
    .output(pageOf(UserListing))
    .query(({ ctx, input }) => listUsers(ctx.scope, input)),

  create: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/users',
        tags: ['users'],
        summary: 'Create an account',
        description:
          'Does not sign the account in. The account joins the group `ui.default_group_id`, if it is ' +
          'set. An address that already has an account is refused with 400 (`email_taken`), in any ' +
          'spelling of its case.',
        status: 201,
      },
      access: 'administrator',
    })
    .input(
      z.object({
        ...givenAccountForm,
        username: personName().nullish().describe('A second name, by which searches find the account'),
        oauth: freeForm()
          .nullish()
          .describe('Kept with the account and never answered; binds it to no provider'),
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
        summary: "Get the caller's permissions",
        description:
          'The default permissions of all accounts, with those added that a group of the caller gives; ' +
          'the tree is always complete. Administrators are allowed everything, whatever the tree says.',
      },
      access: 'member',
    })
    .output(Permissions)
    .query(({ ctx }) => effectivePermissions(ctx.scope)),

  get: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}',
        tags: ['users'],
        summary: 'Get an account',
        description:
          'Answers the account with its profile, status and groups. A picture at another server is ' +
          'shown as the path of this server, except in the own account.',
      },
      access: 'administrator',
    })
    // A path that does not exist, such as a word, is read as an id. It matches no account.
    .input(z.object({ id: label() }))
    .output(UserDetail)
    .query(({ ctx, input }) => getDetail(ctx.scope, knownUserId(input.id))),

  update: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/{id}/update',
        tags: ['users'],
        summary: 'Change an account',
        description:
          'A missing member stays as it is. A new password or another role ends all sessions of the ' +
          'account; its API keys stay valid. Refused with 403: a change of the oldest administrator by ' +
          "another administrator (`primary_admin`), the removal of one's own role `admin`, and, with an " +
          'API key, a change of the own address or password (`session_required`). A taken address is ' +
          'refused with 400 (`email_taken`), a picture beyond what the account may store with 507.',
        errorResponses: [507],
      },
      access: 'administrator',
    })
    .input(
      z.object({
        id: id(),
        role: RoleAtom.optional(),
        name: personName().optional(),
        email: newEmail().optional(),
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
        summary: 'Delete an account',
        description:
          'Ends its sessions and API keys, takes it out of all channels and deletes its settings, ' +
          "grants and reactions. Its messages stay, without an author's name; its tools, standard " +
          'channels, webhooks and the files in messages of standard channels pass to the caller. The ' +
          'own account and the oldest administrator are refused with 403; a repeat is answered 404.',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteUser(ctx.scope, input.id)),
});
