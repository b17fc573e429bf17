import type { Channel, ChannelEvent, ChannelNotice, Message, SessionUser } from '@parley/client';
import { replaceEqualDeep } from '@tanstack/react-query';

export type Listed = Pick<Channel, Exclude<keyof Channel, 'user_count'>>;
type Posted = Pick<Message, 'user_id' | 'user' | 'meta' | 'created_at' | 'content'>;

/** Counting ends here, as on the server: it reads `99+`. */
const MOST = 100;

/** What an event or notice does to the list. `stale` where only the server knows the counts. */
export interface Outcome {
  channels: Listed[];
  stale: boolean;
}

/** Whether the message is the person's own: models and webhooks write under the account of a person, too. */
const isOwn = ({ user_id, user, meta }: Posted, me: SessionUser) =>
  user_id === me.id && user?.role !== 'webhook' && typeof meta.model_id !== 'string';

export function afterEvent(channels: Listed[], { channel_id, data }: ChannelEvent, me: SessionUser): Outcome {
  const channel = channels.find(({ id }) => id === channel_id);
  switch (data.type) {
    case 'message':
      // A message brings a hidden channel back into the list.
      return channel ? afterMessage(channels, channel, data.data, me) : { channels, stale: true };
    case 'message:delete':
    case 'message:update': {
      const isCounted = data.data.created_at > (channel?.last_read_at ?? 0) && !isOwn(data.data, me);
      return {
        channels,
        stale: isCounted && (data.type === 'message:delete' || data.data.content.includes('@')),
      };
    }
    case 'message:reply':
    case 'message:reaction:add':
    case 'message:reaction:remove':
      return { channels, stale: false };
    default:
      return { channels, stale: true };
  }
}

function afterMessage(channels: Listed[], channel: Listed, posted: Posted, me: SessionUser): Outcome {
  // The list was read after this message, and counts it already.
  if (posted.created_at <= (channel.last_message_at ?? 0)) return { channels, stale: false };
  const last_message_at = posted.created_at;
  if (isOwn(posted, me)) {
    // Who writes has read what stands above.
    const read = { last_read_at: last_message_at, unread_count: 0, mention_count: 0 };
    return { channels: replaced(channels, { ...channel, last_message_at, ...read }), stale: false };
  }
  const unread_count = Math.min(MOST, channel.unread_count + 1);
  return {
    channels: replaced(channels, { ...channel, last_message_at, unread_count }),
    stale: posted.content.includes('@'),
  };
}

export function afterNotice(channels: Listed[], { channel_id, data, user }: ChannelNotice): Outcome {
  const channel = channels.find(({ id }) => id === channel_id);
  switch (data.type) {
    case 'last_read_at': {
      const mark = data.data as Partial<Pick<Listed, 'last_read_at' | 'unread_count' | 'mention_count'>>;
      // Notices may arrive in another order: the latest mark counts.
      if (!channel || (mark.last_read_at ?? 0) < (channel.last_read_at ?? 0))
        return { channels, stale: !channel };
      return { channels: replaced(channels, { ...channel, ...mark }), stale: false };
    }
    case 'presence':
      return { channels: withPresence(channels, user.id, data.data.is_active === true), stale: false };
    case 'typing':
    case 'message:delta':
      return { channels, stale: false };
    default:
      return { channels, stale: true };
  }
}

/** The same list where nothing changes, so that no row is drawn again. */
function withPresence(channels: Listed[], userId: string, is_active: boolean): Listed[] {
  const changes = ({ users }: Listed) =>
    users?.some((user) => user.id === userId && user.is_active !== is_active) ?? false;
  if (!channels.some(changes)) return channels;
  return channels.map((channel) =>
    changes(channel)
      ? {
          ...channel,
          users: (channel.users ?? []).map((user) => (user.id === userId ? { ...user, is_active } : user)),
        }
      : channel,
  );
}

/** The rows of an answer, with the counts that events have brought since the server made it. */
export function newestOf(before: Listed[] | undefined, after: Listed[]): Listed[] {
  const known = new Map(before?.map((channel) => [channel.id, channel]));
  const rows = after.map((channel) => {
    const old = known.get(channel.id);
    if (!old || !isNewer(old, channel)) return channel;
    const { last_message_at, last_read_at, unread_count, mention_count } = old;
    return { ...channel, last_message_at, last_read_at, unread_count, mention_count };
  });
  return replaceEqualDeep(before, rows);
}

const isNewer = (one: Listed, other: Listed) =>
  (one.last_message_at ?? 0) > (other.last_message_at ?? 0) ||
  (one.last_read_at ?? 0) > (other.last_read_at ?? 0);

const replaced = (channels: Listed[], channel: Listed): Listed[] =>
  channels.map((one) => (one.id === channel.id ? channel : one));

/** Whether the channel asks for attention, by its notification level. */
export const isNews = ({ notify, unread_count, mention_count }: Listed): boolean =>
  mention_count > 0 || (notify === 'all' && unread_count > 0);

export const countText = (count: number): string => (count >= MOST ? `${MOST - 1}+` : String(count));
