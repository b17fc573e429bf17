import { z } from 'zod';
import { administrator, member, router } from '../core/trpc.ts';
import { id } from '../core/wire.ts';
import { GroupExport, GroupInfo, GroupView, groupForm, userIds } from './groups.schema.ts';
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
/** Clients send null for nobody. */
const people = z.object({ id: id(), user_ids: userIds().nullish() });

export const groupsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups',
        tags: ['groups'],
        summary:
          "The caller's groups, or with `share` those that they may give rights to; for administrators all",
      },
      access: 'member',
    })
    .input(z.object({ share: z.boolean().optional() }))
    .output(z.array(GroupView))
    .query(({ ctx, input }) => listGroups(ctx.scope, input)),

  mine: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/groups',
        tags: ['groups'],
        summary: 'The groups that the caller is in',
      },
      access: 'member',
    })
    .output(z.array(GroupView))
    .query(({ ctx }) => listMemberships(ctx.scope, ctx.scope.actor.id)),

  ofUser: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/groups',
        tags: ['groups'],
        summary: 'The groups that somebody is in',
      },
      access: 'administrator',
    })
    .input(groupId)
    .output(z.array(GroupView))
    .query(({ ctx, input }) => listMemberships(ctx.scope, input.id)),

  create: administrator
    .meta({
      openapi: { method: 'POST', path: '/groups/create', tags: ['groups'], summary: 'Make a group' },
      access: 'administrator',
    })
    .input(z.object(groupForm))
    .output(GroupView)
    .mutation(({ ctx, input }) => createGroup(ctx.scope, input)),

  get: administrator
    .meta({
      openapi: { method: 'GET', path: '/groups/id/{id}', tags: ['groups'], summary: 'Get a group' },
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
        summary: 'What there is to know of a group that the caller is in or may give rights to',
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
        summary: 'A group with everybody in it, and what brought them there',
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
        summary: 'Change a group; what is null or missing stays',
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
        summary: 'Put people into a group; who does not exist is left out',
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
        summary: 'Take people out of a group; what they had by it ends at once',
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
        summary: 'Delete a group with what was granted to it',
      },
      access: 'administrator',
    })
    .input(groupId)
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteGroup(ctx.scope, input.id)),
});
