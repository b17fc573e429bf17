import { z } from 'zod';
import { administrator, member, router } from '../core/trpc/trpc.ts';
import { id } from '../core/wire.ts';
import { GroupExport, GroupInfo, GroupView, groupForm, Membership, userIds } from './groups.schema.ts';
import {
  createGroup,
  deleteGroup,
  exportGroup,
  getGroup,
  getGroupInfo,
  listGroups,
  listMemberships,
  updateGroup,
} from './groups.service.ts';
import { addMembers, removeMembers } from './members.service.ts';

const groupId = z.object({ id: id() });
const inherited = { include_inherited: z.boolean().default(false) };
/** Clients send null for an empty list. */
const people = z.object({ id: id(), user_ids: userIds().nullish() });

export const groupsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups',
        tags: ['groups'],
        summary: 'List groups',
        description:
          'Administrators get all groups; other callers get the groups that they are in, or the ' +
          'selection of `share`. The group that was changed last comes first, then by name; a change of ' +
          'members does not count. All at once.',
      },
      access: 'member',
    })
    .input(
      z.object({
        share: z
          .boolean()
          .optional()
          .describe(
            'True: groups that the caller may grant rights to. False: groups of the caller that only ' +
              'administrators may grant rights to. Administrators get all groups in any case.',
          ),
      }),
    )
    .output(z.array(GroupView))
    .query(({ ctx, input }) => listGroups(ctx.scope, input)),

  mine: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/groups',
        tags: ['groups'],
        summary: "List the caller's groups",
        description:
          'Only groups that the caller was added to, for administrators too. The group that was changed last ' +
          'comes first, then by name.',
      },
      access: 'member',
    })
    .input(z.object(inherited))
    .output(z.array(Membership))
    .query(({ ctx, input }) => listMemberships(ctx.scope, ctx.scope.actor.id, input.include_inherited)),

  ofUser: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/groups',
        tags: ['groups'],
        summary: 'List the groups of an account',
        description:
          'The group that was changed last comes first, then by name. The list is empty for an account ' +
          'that does not exist.',
      },
      access: 'administrator',
    })
    .input(groupId.extend(inherited))
    .output(z.array(Membership))
    .query(({ ctx, input }) => listMemberships(ctx.scope, input.id, input.include_inherited)),

  create: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/groups/create',
        tags: ['groups'],
        summary: 'Create a group',
        description:
          'The group has no members at first, and its creator gets no special right to it. A name that ' +
          'another group has is refused with 400 (`name_taken`), a parent that does not exist with 404.',
      },
      access: 'administrator',
    })
    .input(z.object(groupForm))
    .output(GroupView)
    .mutation(({ ctx, input }) => createGroup(ctx.scope, input)),

  get: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups/id/{id}',
        tags: ['groups'],
        summary: 'Get a group',
        description:
          'Answers the group with its permissions and the number of its members; `GET ' +
          '/groups/id/{id}/export` also names the members.',
      },
      access: 'administrator',
    })
    .input(groupId)
    .output(GroupView)
    .query(({ ctx, input }) => getGroup(ctx.scope, input.id)),

  info: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups/id/{id}/info',
        tags: ['groups'],
        summary: 'Get what members may see of a group',
        description:
          'For a group that the caller is in or may grant rights to; every other group is answered 404. ' +
          'Administrators may see all. Permissions, `data` and `meta` are left out.',
      },
      access: 'member',
    })
    .input(groupId)
    .output(GroupInfo)
    .query(({ ctx, input }) => getGroupInfo(ctx.scope, input.id)),

  export: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups/id/{id}/export',
        tags: ['groups'],
        summary: 'Get a group with all its members',
        description:
          '`user_ids` and `members` hold all members in the order in which they joined. `sources` names ' +
          'each reason for a membership: `manual` for an administrator, `oauth` and `ldap` for a way of ' +
          'signing in.',
      },
      access: 'administrator',
    })
    .input(groupId)
    .output(GroupExport)
    .query(({ ctx, input }) => exportGroup(ctx.scope, input.id)),

  update: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/groups/id/{id}/update',
        tags: ['groups'],
        summary: 'Change a group',
        description:
          'A member that is null or missing stays as it is, but `parent_group_id: null` moves the group to ' +
          'the top; `permissions`, `data` and `meta` are replaced as a whole. New permissions and a new ' +
          'parent act at once, on open sockets too. A name that another group has is refused with 400 ' +
          '(`name_taken`), as is a parent that is the group itself or below it; a parent that does not ' +
          'exist with 404.',
      },
      access: 'administrator',
    })
    .input(
      z.object({
        ...groupForm,
        id: id(),
        name: groupForm.name.nullish(),
        description: groupForm.description.nullish(),
      }),
    )
    .output(GroupView)
    .mutation(({ ctx, input }) => updateGroup(ctx.scope, input)),

  addMembers: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/groups/id/{id}/users/add',
        tags: ['groups'],
        summary: 'Add members to a group',
        description:
          'What the group is granted and permitted reaches the new members at once. Ids without an ' +
          'account are left out, and members who are in the group already stay, so a repeat is ' +
          'harmless. At most 10,000 ids a call. Answers the group with its new `member_count`.',
      },
      access: 'administrator',
    })
    .input(people)
    .output(GroupView)
    .mutation(({ ctx, input }) => addMembers(ctx.scope, input.id, input.user_ids ?? [])),

  removeMembers: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/groups/id/{id}/users/remove',
        tags: ['groups'],
        summary: 'Remove members from a group',
        description:
          'Removes the members whatever brought them in, and they lose the grants and permissions of ' +
          'the group at once. A provider or directory that names the group at their next sign-in adds ' +
          'them again. Ids that are not members are ignored, so a repeat is harmless; at most 10,000 ' +
          'ids a call. Answers the group with its new `member_count`.',
      },
      access: 'administrator',
    })
    .input(people)
    .output(GroupView)
    .mutation(({ ctx, input }) => removeMembers(ctx.scope, input.id, input.user_ids ?? [])),

  delete: administrator
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/groups/id/{id}/delete',
        tags: ['groups'],
        summary: 'Delete a group',
        description:
          'Deletes the group with its memberships and all grants to it; the members lose both at once, ' +
          'their accounts stay. A repeat is answered 404.',
      },
      access: 'administrator',
    })
    .input(groupId)
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteGroup(ctx.scope, input.id)),
});
