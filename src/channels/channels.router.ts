import { z } from 'zod';
import { grantList } from '../access/access.schema.ts';
import { trackItems } from '../core/subscription.ts';
import { router } from '../core/trpc.ts';
import { id, shownLabel } from '../core/wire.ts';
import { createChannel, openDirectWith } from './channels.create.ts';
import { deleteChannel, replaceAccess, updateChannel } from './channels.manage.ts';
import { channelMember } from './channels.procedure.ts';
import { ChannelDetail, ChannelView, channelForm, channelTypes, people } from './channels.schema.ts';
import { getChannel, listChannels, listEveryChannel } from './channels.service.ts';
import { EVENT_PATHS } from './events.schema.ts';
import { currentCursor, openEventStream } from './events.stream.ts';

export const channelsRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels',
        tags: ['channels'],
        summary: 'The channels that the caller is in, owns or was granted, with what is new in them',
      },
      access: 'member',
    })
    .output(z.array(ChannelView))
    .query(({ ctx }) => listChannels(ctx.scope)),

  listAll: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/list',
        tags: ['channels'],
        summary: 'The same with those put away; for administrators, all but the direct ones of others',
      },
      access: 'member',
    })
    .output(z.array(ChannelView))
    .query(({ ctx }) => listEveryChannel(ctx.scope)),

  create: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/create',
        tags: ['channels'],
        summary: 'Make a standard channel (administrators), a group or a direct channel',
      },
      access: 'member',
    })
    .input(
      z
        .object({ ...channelForm, ...people, name: shownLabel().default(''), type: channelTypes })
        .refine(({ type, name }) => type === 'dm' || name !== '', {
          path: ['name'],
          message: 'must not be empty',
        }),
    )
    .output(ChannelDetail)
    .mutation(({ ctx, input }) => createChannel(ctx.scope, { ...input, type: input.type || null })),

  direct: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/users/{user_id}',
        tags: ['channels'],
        summary: 'The direct channel with somebody, made at the first time',
      },
      access: 'member',
      changes: true,
    })
    .input(z.object({ user_id: id() }))
    .output(ChannelDetail)
    .query(({ ctx, input }) => openDirectWith(ctx.scope, input.user_id)),

  get: channelMember
    .meta({
      openapi: { method: 'GET', path: '/channels/{id}', tags: ['channels'], summary: 'Get a channel' },
      access: 'channel.read',
    })
    .input(z.object({ id: id() }))
    .output(ChannelDetail)
    .query(({ ctx, input }) => getChannel(ctx.scope, input.id)),

  update: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/update',
        tags: ['channels'],
        summary: 'Change a channel; what is not sent stays',
      },
      access: 'channel.manage',
    })
    .input(z.object({ id: id(), ...channelForm, name: channelForm.name.optional() }))
    .output(ChannelDetail)
    .mutation(({ ctx, input: { id: channelId, ...changes } }) =>
      updateChannel(ctx.scope, channelId, changes),
    ),

  updateAccess: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/access/update',
        tags: ['channels'],
        summary: 'Replace the grants of a standard channel; others go by their members',
      },
      access: 'channel.manage',
    })
    .input(z.object({ id: id(), access_grants: grantList() }))
    .output(ChannelDetail)
    .mutation(({ ctx, input }) => replaceAccess(ctx.scope, input.id, input.access_grants)),

  delete: channelMember
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/channels/{id}/delete',
        tags: ['channels'],
        summary: 'Delete a channel with everything in it',
      },
      access: 'channel.manage',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteChannel(ctx.scope, input.id)),

  cursor: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/events/cursor',
        tags: ['channels'],
        summary: 'Where the events of channels stand now, for `lastEventId`',
      },
      access: 'member',
    })
    .output(z.object({ cursor: z.string() }))
    .query(async ({ ctx }) => ({ cursor: await currentCursor(ctx.scope) })),

  events: channelMember
    .meta({ access: 'channel.read', reaches: EVENT_PATHS })
    .input(
      z.object({
        channel_ids: z.array(id()).min(1).max(1000).optional(),
        lastEventId: z.string().nullish(),
      }),
    )
    .subscription(async ({ ctx, input }) => trackItems(await openEventStream(ctx.scope, input))),
});
