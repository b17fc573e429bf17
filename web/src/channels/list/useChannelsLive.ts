import { useThrottledCallback } from '@mantine/hooks';
import { useEffect } from 'react';
import { useLive, useLiveState } from '../../api/live.ts';
import { queryClient, trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { afterEvent, afterNotice, type Listed, newestOf, type Outcome } from './counts.ts';

/** The list is read at most this often, however many events come. */
const REFRESH_MS = 400;
const THREADS_MS = 2000;

// An answer may be older than the events that came meanwhile. What a view selects of the list passes here, too.
queryClient.setQueryDefaults(trpc.channels.list.queryKey(), {
  structuralSharing: (before, after) =>
    isList(after) ? newestOf(before as Listed[] | undefined, after) : after,
});

const isList = (data: unknown): data is Listed[] =>
  Array.isArray(data) && data.every((row) => row instanceof Object && 'unread_count' in row);

/** Keeps the list of channels right while the page is open. Used once, by the shell. */
export function useChannelsLive(): void {
  const me = useMe();
  const list = trpc.channels.list.queryKey();
  const refresh = useThrottledCallback(
    () => void queryClient.invalidateQueries({ queryKey: list }),
    REFRESH_MS,
  );

  const refreshThreads = useThrottledCallback(
    () => void queryClient.invalidateQueries(trpc.threads.list.pathFilter()),
    THREADS_MS,
  );

  const apply = (change: (channels: Listed[]) => Outcome) => {
    const channels = queryClient.getQueryData<Listed[]>(list);
    if (!channels) return;
    const outcome = change(channels);
    if (outcome.channels !== channels) queryClient.setQueryData<Listed[]>(list, outcome.channels);
    if (outcome.stale) refresh();
  };
  const channelChanged = (type: string) => {
    if (type.startsWith('channel:member')) void queryClient.invalidateQueries(trpc.members.list.pathFilter());
  };
  useLive({
    onEvent: (event) => {
      apply((channels) => afterEvent(channels, event, me));
      channelChanged(event.data.type);
      if (event.data.type === 'message:reply') refreshThreads();
    },
    onNotice: (notice) => {
      apply((channels) => afterNotice(channels, notice));
      channelChanged(notice.data.type);
      if (notice.data.type === 'last_read_at') refreshThreads();
    },
    onReload: () => refresh(),
  });
  // Notices are lost with a connection.
  const { state } = useLiveState();
  useEffect(() => {
    if (state === 'live') refresh();
  }, [state, refresh]);
}
