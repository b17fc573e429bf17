import { z } from 'zod';
import { router } from '../core/trpc.ts';
import { id, label } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { MAX_MEMBERS, people } from './channels.schema.ts';
import { MemberOrder, MembershipView, MemberView } from './members.schema.ts';
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
        summary: 'The members of a channel, or those who may read it where it has none; 30 a page',
      },
      access: 'channel.read',
    })
    .input(
      z.object({
        ...inChannel,
        query: label().optional(),
        order_by: MemberOrder.default('name'),
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
        summary: 'Add people to a group: those in charge, and administrators',
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
        summary: 'Remove people from a group: those in charge, and administrators',
      },
      access: 'channel.manage',
    })
    .input(z.object({ ...inChannel, user_ids: z.array(id()).max(MAX_MEMBERS).default([]) }))
    .output(z.int())
    .mutation(({ ctx, input }) => removeMembers(ctx.scope, input.id, input.user_ids)),

  leave: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/members/leave',
        tags,
        summary: 'Leave a group; the last one who does takes it along',
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
        summary: 'Put a member in charge of a group, or not any more',
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
        summary: "Who of a channel's people did anything within the last three minutes",
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
        summary: 'Tell the channel that the caller is writing, or has stopped; 20 times a second',
        errorResponses: [429],
      },
      access: 'channel.write',
    })
    .input(z.object({ ...inChannel, message_id: id().nullish(), typing: z.boolean().default(true) }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => setTyping(ctx.scope, input.id, input.message_id ?? null, input.typing)),
});
