import { z } from 'zod';
import { grantList } from '../access/access.schema.ts';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { trackItems } from '../core/trpc/trpc.items.ts';
import { router } from '../core/trpc/trpc.ts';
import { id, shownLabel } from '../core/wire.ts';
import { people } from '../members/members.schema.ts';
import { createChannel, openDirectWith } from './channels.create.ts';
import { deleteChannel, replaceAccess, updateChannel } from './channels.manage.ts';
import { ChannelDetail, ChannelView, channelForm, channelTypes } from './channels.schema.ts';
import { getChannel, listChannels, listEveryChannel } from './channels.service.ts';
import { EVENT_PATHS } from './events/events.schema.ts';
import { currentCursor, openEventStream } from './events/events.stream.ts';

export const channelsRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels',
        tags: ['channels'],
        summary: 'List the channels that the caller is in, owns or was granted, with their unread counts',
        description:
          'Answers all of them in one list: groups and direct channels first, then standard channels, each ' +
          'with the latest message first. Left out are channels that the caller has taken off the list ' +
          '(`POST /channels/{id}/members/active`). `access_grants` is empty unless the caller may write. ' +
          'Every operation on channels answers 403 while `channels.enable` is off, or where the caller ' +
          'lacks the permission `features.channels`.',
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
        summary: 'List the same channels with the hidden ones, for administrators also those of others',
        description:
          'The form and the order are those of `GET /channels`. Channels that the caller has taken off the ' +
          'list are included. An administrator also gets every standard channel and every group, but no ' +
          'direct channel of other people; `write_access` says in which of them the caller may post.',
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
        summary: 'Create a standard channel, a group or a direct channel',
        description:
          'Without `type`, makes a standard channel, which is for administrators alone. With `group`, the ' +
          'caller becomes its manager; it has at most 1000 members. With `dm`, at least one person must be named and at most 50 people ' +
          'take part, the caller included; where these people have a direct channel already, that one is ' +
          "answered unchanged, and it returns to the caller's list. A person or group that does not exist " +
          'is refused with 400. All who may read a new channel get the event `channel:created`.',
      },
      access: 'member',
    })
    .input(
      z
        .object({
          ...channelForm,
          ...people,
          name: shownLabel().default('').describe('Required but for `dm`'),
          type: channelTypes,
        })
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
        summary: 'Open the direct channel with a user',
        description:
          "Creates the channel at the first call and answers the same one at every later call; the caller's " +
          'own id gives a channel with only the caller in it. A channel that the caller has hidden returns ' +
          'to the list. Because it may change something, a request with the cookie alone must come from the ' +
          'same origin. An unknown user is answered with 404.',
      },
      access: 'member',
      changes: true,
    })
    .input(z.object({ user_id: id() }))
    .output(ChannelDetail)
    .query(({ ctx, input }) => openDirectWith(ctx.scope, input.user_id)),

  get: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}',
        tags: ['channels'],
        summary: 'Get a channel',
        description:
          '`users` and `user_ids` name the members of a group or direct channel and are null for a standard ' +
          'channel; `user_count` says how many people may read it. `access_grants` is empty unless the ' +
          'caller may write. An administrator reads every standard channel, but only those groups and ' +
          'direct channels that they are in.',
      },
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
        summary: 'Change a channel',
        description:
          'A standard channel is changed by its owner and administrators, a group by its managers and ' +
          'administrators; a direct channel is refused with 403. Members that are not sent stay; `data`, ' +
          '`meta` and `access_grants` are each replaced as a whole. `access_grants` is ignored for a group. ' +
          'Sends the event `channel:updated`, and answers the channel also when the caller has given up the ' +
          'right to read it.',
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
        summary: 'Replace the access grants of a standard channel',
        description:
          'For the owner and administrators. The list replaces all grants; an empty list leaves the channel ' +
          'to its owner and administrators. Grants to all (`*`) are left out without an error when the ' +
          'caller may not share publicly; another new grant that the caller may not give is refused with ' +
          '403. A group or direct channel has no grants (403). Sends the event `channel:updated`.',
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
        summary: 'Delete a channel and all its messages',
        description:
          'A standard channel is deleted by its owner and administrators, a group by its managers and ' +
          'administrators; a direct channel is refused with 403. Its messages, members, webhooks and event ' +
          'log go with it and cannot be restored. Sends `channel:deleted` to the connected clients of the ' +
          'channel; that event is not stored. Answers true; a second call is answered with 404.',
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
        summary: 'Get a cursor that stands at the end of the event log',
        description:
          'Ask for it before the first connection, then give it to the event stream as `lastEventId`: every ' +
          'event after this moment is then delivered, even if the first connection breaks before its first ' +
          'event. Treat the text as opaque: its form may change, and a cursor of another form is refused.',
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
