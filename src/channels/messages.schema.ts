import { z } from 'zod';
import { nanoseconds } from '../core/wire.ts';
import { ChannelBrief } from './channels.schema.ts';

const Author = z.object({ id: z.string(), name: z.string(), role: z.string() }).meta({ id: 'Author' });
export type Author = z.infer<typeof Author>;

const MESSAGE_FIELDS = {
  id: z.string(),
  user_id: z.string(),
  channel_id: z.string(),
  content: z.string(),
  reply_to_id: z.string().nullable(),
  parent_id: z.string().nullable(),
  is_pinned: z.boolean(),
  pinned_by: z.string().nullable(),
  pinned_at: nanoseconds().nullable(),
  data: z.record(z.string(), z.unknown()),
  meta: z.record(z.string(), z.unknown()),
  /** Null when the account is gone. */
  user: Author.nullable(),
  created_at: nanoseconds(),
  updated_at: nanoseconds(),
};

const QuotedMessage = z.object(MESSAGE_FIELDS).meta({ id: 'QuotedMessage' });

const Reaction = z
  .object({
    name: z.string(),
    count: z.int(),
    users: z.array(z.object({ id: z.string(), name: z.string() })),
  })
  .meta({ id: 'Reaction' });

/** A message, the same at every endpoint and in every event. */
export const MessageView = z
  .object({
    ...MESSAGE_FIELDS,
    reactions: z.array(Reaction),
    reply_count: z.int(),
    latest_reply_at: nanoseconds().nullable(),
    reply_to_message: QuotedMessage.nullable(),
  })
  .meta({ id: 'Message' });
export type MessageView = z.infer<typeof MessageView>;

/** The answer to posting: the message, with the client's own id for it. */
export const PostedMessage = MessageView.extend({ temp_id: z.string().nullable() }).meta({
  id: 'PostedMessage',
});
export type PostedMessage = z.infer<typeof PostedMessage>;

export const EVENT_TYPES = ['message', 'message:update', 'message:delete', 'message:reply'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What a change in a channel looks like at every event door. */
export const ChannelEventView = z
  .object({
    /** Numbers the events of a channel without gaps. */
    event_id: z.int(),
    channel_id: z.string(),
    message_id: z.string().nullable(),
    created_at: nanoseconds(),
    data: z.object({ type: z.enum(EVENT_TYPES), data: PostedMessage.partial({ temp_id: true }) }),
    /** Who did it. */
    user: Author,
    channel: ChannelBrief,
  })
  .meta({ id: 'ChannelEvent' });
export type ChannelEventView = z.infer<typeof ChannelEventView>;
