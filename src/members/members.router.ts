import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id, label } from '../core/wire.ts';
import { MAX_MEMBERS, MemberOrder, MembershipView, MemberView, people } from './members.schema.ts';
import { inviteMembers, leaveChannel, removeMembers, setMemberRole } from './members.service.ts';
import { listMembers, listPresent, setTyping } from './presence.service.ts';

const inChannel = { id: id() };
const tags = ['channels'];

export const membersRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/members',
        tags,
        summary: 'List the members of a channel, or the readers of a standard channel',
        description:
          'For a group or direct channel these are its members, for a standard channel all accounts that ' +
          'may read it. A page has 30 people; `total` counts all that match. The order by `email` or ' +
          '`group_id:…` is for administrators (403), and `email` is empty for other callers except in their ' +
          'own entry.',
      },
      access: 'channel.read',
    })
    .input(
      z.object({
        ...inChannel,
        query: label().optional().describe('A part of the name or user name, in any case'),
        order_by: MemberOrder.default('name').describe(
          'A column, or `group_id:` and the id of a user group: its members last with `asc`, first with `desc`',
        ),
        direction: z.enum(['asc', 'desc']).default('asc'),
        page: z.int().min(1).max(1_000_000).default(1),
      }),
    )
    .output(z.object({ users: z.array(MemberView), total: z.int() }))
    .query(({ ctx, input }) => listMembers(ctx.scope, input)),

  add: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/update/members/add',
        tags,
        summary: 'Add people to a group',
        description:
          'For managers of the group and administrators. People who are members already stay as they are; ' +
          'the answer holds only the new memberships and may be empty. A group has at most 1000 members; ' +
          'that limit, a person or user group that does not exist, and a channel that is no group are ' +
          'refused with 400, and nothing is changed then. Sends `channel:member:add` with the ids of the ' +
          'new members.',
      },
      access: 'channel.manage',
    })
    .input(z.object({ ...inChannel, ...people }))
    .output(z.array(MembershipView))
    .mutation(({ ctx, input }) => inviteMembers(ctx.scope, input)),

  remove: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/update/members/remove',
        tags,
        summary: 'Remove people from a group',
        description:
          'For managers of the group and administrators. Answers how many were removed; people who are not ' +
          'members do not count. If no manager stays, the longest member becomes one; if no member stays, ' +
          'the group is deleted with its messages. Sends `channel:member:remove` to the group and to the ' +
          'removed people. A channel that is no group is refused with 400.',
      },
      access: 'channel.manage',
    })
    .input(
      z.object({ ...inChannel, user_ids: z.array(id()).max(MAX_MEMBERS).default([]).describe('Accounts') }),
    )
    .output(z.int())
    .mutation(({ ctx, input }) => removeMembers(ctx.scope, input.id, input.user_ids)),

  leave: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/members/leave',
        tags,
        summary: 'Leave a group',
        description:
          'If the caller was its only manager, the longest member becomes one; if the caller was its last ' +
          'member, the group is deleted with its messages. Sends `channel:member:remove`. A standard or ' +
          'direct channel is refused with 400, a group that the caller is not in with 403.',
      },
      access: 'channel.read',
    })
    .input(z.object(inChannel))
    .output(z.boolean())
    .mutation(({ ctx, input }) => leaveChannel(ctx.scope, input.id)),

  setRole: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/members/role',
        tags,
        summary: 'Make a member of a group its manager, or an ordinary member again',
        description:
          'For managers of the group and administrators. When the only manager becomes a `member`, the ' +
          'longest other member becomes manager; the only member of a group cannot give the role up (400). ' +
          'A user who is no member is answered with 404. Sends `channel:updated` when the role changes; the ' +
          'same role again changes nothing.',
      },
      access: 'channel.manage',
    })
    .input(z.object({ ...inChannel, user_id: id(), role: z.enum(['manager', 'member']) }))
    .output(MembershipView)
    .mutation(({ ctx, input }) => setMemberRole(ctx.scope, input)),

  present: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/presence',
        tags,
        summary: 'List the people of a channel who were active within the last three minutes',
        description:
          'Answers those among the members of the channel, or the readers of a standard channel, who were ' +
          'active within the last three minutes: the latest first, at most 1000. `is_active` is always ' +
          'true, and other people are left out.',
      },
      access: 'channel.read',
    })
    .input(z.object(inChannel))
    .output(z.array(z.object({ user_id: z.string(), is_active: z.boolean() })))
    .query(({ ctx, input }) => listPresent(ctx.scope, input.id)),

  typing: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/typing',
        tags,
        summary: 'Tell the channel that the caller is typing, or has stopped',
        description:
          'Sends a `typing` notice to the connected clients of the channel; nothing is stored. One account ' +
          'may send 20 a second to each server process; more are refused with 429. A Socket.IO client can ' +
          'send the same over its socket; both count together.',
        errorResponses: [429],
      },
      access: 'channel.write',
    })
    .input(
      z.object({
        ...inChannel,
        message_id: id()
          .nullish()
          .describe('Root of the thread that the caller writes in; left out outside of threads'),
        typing: z.boolean().default(true).describe('False: the caller has stopped'),
      }),
    )
    .output(z.boolean())
    .mutation(({ ctx, input }) => setTyping(ctx.scope, input.id, input.message_id ?? null, input.typing)),
});
