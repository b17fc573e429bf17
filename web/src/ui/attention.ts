import type { Channel } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { trpc } from '../api/query.ts';

type Counted = Pick<Channel, 'type' | 'notify' | 'unread_count' | 'mention_count'>;

/** How many messages of a channel are for the person: mentions, and all of direct channels. */
export const personalCount = ({ type, notify, unread_count, mention_count }: Counted): number =>
  type === 'dm' && notify === 'all' ? unread_count : mention_count;

/** How many messages of all channels are for the person. */
export function useAttentionCount(): number {
  const { data = 0 } = useQuery(
    trpc.channels.list.queryOptions(undefined, {
      select: (channels) => channels.reduce((sum, channel) => sum + personalCount(channel), 0),
    }),
  );
  return data;
}
