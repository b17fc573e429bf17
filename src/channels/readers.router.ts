import { z } from 'zod';
import { router } from '../core/trpc.ts';
import { id, moment, nanoseconds } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { COUNT_LIMIT, NotifyLevel } from './channels.schema.ts';
import { countUnread, markRead, setListed, setNotify } from './readers.service.ts';

const inChannel = { id: id() };
const tags = ['channels'];

export const readersRouter = router({
  markRead: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/read',
        tags,
        summary: 'Note up to where the caller has read a channel',
      },
      access: 'channel.read',
    })
    .input(
      z.object({
        ...inChannel,
        last_read_at: moment().nullish(),
      }),
    )
    .output(z.object({ last_read_at: nanoseconds() }))
    .mutation(({ ctx, input }) => markRead(ctx.scope, input.id, input.last_read_at)),

  notify: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/notify',
        tags,
        summary: 'Choose what the caller wants to be told of',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, level: NotifyLevel }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => setNotify(ctx.scope, input.id, input.level)),

  mute: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/members/mute',
        tags,
        summary: 'Be told of mentions alone (the level `mentions`), or of everything again (`all`)',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, is_channel_muted: z.boolean() }))
    .output(z.object({ is_channel_muted: z.boolean() }))
    .mutation(async ({ ctx, input: { id: channelId, is_channel_muted } }) => {
      await setNotify(ctx.scope, channelId, is_channel_muted ? 'mentions' : 'all');
      return { is_channel_muted };
    }),

  setActive: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/members/active',
        tags,
        summary:
          "Take a group or direct channel off the caller's list until its next message, or put it back",
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, is_active: z.boolean() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => setListed(ctx.scope, input.id, input.is_active)),

  unread: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/unread',
        tags,
        summary: 'What is new in all channels together, as the levels of notification want it',
      },
      access: 'member',
    })
    .output(
      z.object({
        channel_count: z.int().meta({ description: 'Channels with something new' }),
        unread_count: z.int().meta({ description: `New messages, of each channel at most ${COUNT_LIMIT}` }),
        mention_count: z.int().meta({ description: `Mentions, of each channel at most ${COUNT_LIMIT}` }),
      }),
    )
    .query(({ ctx }) => countUnread(ctx.scope)),
});
