import { z } from 'zod';
import { administrator, member, router } from '../core/trpc/trpc.ts';
import { id, label } from '../core/wire.ts';
import { GroupMembers, pageInput, pageOf } from './people.schema.ts';
import {
  countActive,
  getInfo,
  isActive,
  listInGroup,
  listMembersOf,
  listNewest,
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
        summary: 'List all people at once',
        description:
          'The newest first, `pending` accounts included, at most 10,000; `total` is the number of ' +
          'accounts. `next_cursor` is not null if there are more: continue with `GET /users/search`, by ' +
          'its `cursor`. `groups` is empty in lists.',
      },
      access: 'administrator',
    })
    .output(pageOf(UserInfo))
    .query(({ ctx }) => listNewest(ctx.scope)),

  search: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/search',
        tags: ['users'],
        summary: 'Find people',
        description:
          'Matches a part of the display name or user name, or the whole e-mail address, in any case; ' +
          'without `query` it lists all. Administrators also find by a part of the address, see ' +
          '`pending` accounts and addresses (`email` is null for other callers), and may order by ' +
          '`group_id:<id>`, which is refused to others with 403. The newest come first unless ' +
          '`order_by` or `direction` says otherwise. A caller may have 4 searches at once; more are ' +
          'answered 429.',
        errorResponses: [429],
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
        summary: 'List the people of a group',
        description:
          'All who were added to the group at once, by name, `pending` accounts included. Changes nothing, although it is a ' +
          'POST; `groups` of each entry is empty.',
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
        summary: 'Count active people',
        description:
          '`user_count` is the number of accounts that did anything within the last three minutes. ' +
          '`model_ids` is always empty; `GET /usage/days` sums up the use of models.',
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
        summary: 'List the members of a group by pages',
        description:
          '30 a page, by name. `total` is the number of members that match `query`; `counts` are those ' +
          'of the whole group, whatever the query. `direct` members were added to the group itself, ' +
          '`inherited` ones only to groups below it.',
      },
      access: 'administrator',
    })
    .input(
      z.object({
        id: id(),
        membership: z.enum(['direct', 'inherited', 'effective']).default('effective'),
        query: label().optional().describe('A part of the name or e-mail address, in any case'),
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
        summary: 'Get what people may see of an account',
        description:
          '`email` is null unless the caller is an administrator or asks for their own account; ' +
          '`groups` holds only groups that the caller is in too, all for administrators and for the own ' +
          'account. A `pending` account of another person is answered 404, except to administrators.',
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
        summary: 'Get whether a person is active',
        description:
          'True if the person has an open socket or did anything within the last three minutes. False, ' +
          'not 404, for an account that does not exist or that the caller may not see.',
      },
      access: 'member',
    })
    .input(byId)
    .output(z.object({ active: z.boolean() }))
    .query(({ ctx, input }) => isActive(ctx.scope, input.id)),
});
