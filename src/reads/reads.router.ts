import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id, moment, nanoseconds } from '../core/wire.ts';
import { COUNT_LIMIT, NotifyLevel } from './reads.schema.ts';
import { countUnread, markRead, setListed, setNotify } from './reads.service.ts';

const inChannel = { id: id() };
const tags = ['channels'];

export const readersRouter = router({
  markRead: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/read',
        tags,
        summary: 'Mark a channel as read up to a time',
        description:
          'The mark never goes back and never beyond the present; the answer says where it stands. When ' +
          "something was new, the caller's own clients get the notice `last_read_at` with the new counts; " +
          'other people are not told.',
      },
      access: 'channel.read',
    })
    .input(
      z.object({
        ...inChannel,
        last_read_at: moment().nullish().describe('Nanoseconds; the present when left out'),
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
        summary: 'Set the notification level of a channel for the caller',
        description:
          '`all` notifies of every message, `mentions` of mentions alone, `none` of nothing. The level ' +
          "decides what counts in `GET /channels/unread` and what is sent to the caller's webhook, which " +
          'gets every message of a direct channel unless the level is `none`. The counts in lists of ' +
          "channels do not depend on it. The caller's own clients get the notice `channel:mute`.",
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
        summary: 'Mute or unmute a channel for the caller',
        description:
          'A short form of `POST /channels/{id}/notify`: true sets the level `mentions`, false the level ' +
          "`all`, also where it was `none`. The caller's own clients get the notice `channel:mute`.",
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, is_channel_muted: z.boolean().describe('True: mentions alone') }))
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
        summary: "Hide a group or direct channel from the caller's list, or show it again",
        description:
          'The caller stays a member. Hiding also marks the channel as read, and the next message shows it ' +
          'again. A standard channel, or one that the caller is not in, is answered with 404.',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, is_active: z.boolean().describe('False hides the channel') }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => setListed(ctx.scope, input.id, input.is_active)),

  unread: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/unread',
        tags,
        summary: 'Count what is unread in all channels together',
        description:
          'Counts the channels of `GET /channels`: one at the level `mentions` counts with its mentions ' +
          'alone, one at `none` not at all. Each channel adds at most 100 messages and 100 mentions.',
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
