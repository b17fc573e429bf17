import { z } from 'zod';
import { administrator, member, router } from '../core/trpc.ts';
import { id, label } from '../core/wire.ts';
import { GroupMembers, pageInput, pageOf } from './people.schema.ts';
import {
  countActive,
  getInfo,
  isActive,
  listEverybody,
  listInGroup,
  listMembersOf,
  searchPeople,
} from './people.service.ts';
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

  usage: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/usage',
        tags: ['users'],
        summary: 'How many people did anything within the last three minutes; no models run here',
      },
      access: 'administrator',
    })
    .output(z.object({ model_ids: z.array(z.string()), user_count: z.int() }))
    .query(async ({ ctx }) => ({ model_ids: [], user_count: await countActive(ctx.scope) })),

  membersOf: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/groups/id/{id}/members',
        tags: ['groups'],
        summary: 'The people of a group by name, 30 a page, with what makes them members',
      },
      access: 'administrator',
    })
    .input(
      z.object({
        id: id(),
        membership: z.enum(['direct', 'inherited', 'effective']).default('effective'),
        query: label().optional(),
        page: z.int().min(1).max(1_000_000).default(1),
      }),
    )
    .output(GroupMembers)
    .query(({ ctx, input }) => listMembersOf(ctx.scope, input)),

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
