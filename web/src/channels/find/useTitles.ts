import { useQuery } from '@tanstack/react-query';
import { trpc } from '../../api/query.ts';
import { useChannelTitle } from '../../messages/title.ts';

/** The names of channels of other lists, which do not say who is in a direct channel. */
export function useTitles(): (channel: { id: string; name: string; type: string | null }) => string {
  const titleOf = useChannelTitle();
  const { data } = useQuery(trpc.channels.list.queryOptions());
  return (channel) => titleOf(data?.find(({ id }) => id === channel.id) ?? { ...channel, users: null });
}
