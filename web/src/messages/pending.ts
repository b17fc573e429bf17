import type { Message, SessionUser } from '@parley/client';
import type { Entry } from './outbox/entry.ts';

/** A waiting post in the form of the message that it becomes. */
export function messageOf(entry: Entry, me: SessionUser): Message {
  const at = entry.createdAt * 1e6;
  return {
    id: entry.tempId,
    user_id: me.id,
    channel_id: entry.channelId,
    content: entry.content,
    reply_to_id: entry.replyToId,
    parent_id: entry.threadId,
    is_pinned: false,
    pinned_by: null,
    pinned_at: null,
    data: { files: [] },
    meta: {},
    user: { id: me.id, name: me.name, role: me.role },
    created_at: at,
    updated_at: at,
    reactions: [],
    reply_count: 0,
    latest_reply_at: null,
    reply_to_message: null,
  };
}
