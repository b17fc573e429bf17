import { z } from 'zod';
import { administrator, member, router } from '../core/trpc.ts';
import { id } from '../core/wire.ts';
import { pageInput, pageOf } from './people.schema.ts';
import { getInfo, isActive, listEverybody, listInGroup, searchPeople } from './people.service.ts';
import { UserInfo } from './users.schema.ts';

const byId = z.object({ id: id() });

export const peopleRouter = router({
  everybody: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/all',
        tags: ['users'],
        summary: 'All people at once, the newest 10,000 of them; `total` says how many there are',
      },
      access: 'administrator',
    })
    .output(pageOf(UserInfo))
    .query(({ ctx }) => listEverybody(ctx.scope)),

  search: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/search',
        tags: ['users'],
        summary: 'Find people by name or by their whole address; administrators also by parts of it',
      },
      access: 'member',
    })
    .input(pageInput)
    .output(pageOf(UserInfo))
    .query(({ ctx, input }) => searchPeople(ctx.scope, input)),

  inGroup: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/groups/id/{id}/users',
        tags: ['groups'],
        summary: 'The people of a group, by name',
      },
      access: 'administrator',
    })
    .input(byId)
    .output(z.array(UserInfo))
    .query(({ ctx, input }) => listInGroup(ctx.scope, input.id)),

  info: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/info',
        tags: ['users'],
        summary: 'What people may know of each other',
      },
      access: 'member',
    })
    .input(byId)
    .output(UserInfo)
    .query(({ ctx, input }) => getInfo(ctx.scope, input.id)),

  active: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/active',
        tags: ['users'],
        summary: 'Whether somebody is connected, or was seen within the last three minutes',
      },
      access: 'member',
    })
    .input(byId)
    .output(z.object({ active: z.boolean() }))
    .query(({ ctx, input }) => isActive(ctx.scope, input.id)),
});
