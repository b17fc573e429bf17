import { useThrottledCallback } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { isParleyError } from '@parley/client';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useLive, useLiveState } from '../../api/live.ts';
import { queryClient, trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { afterEvent, afterNotice, type Listed, newestOf, type Outcome } from './counts.ts';

/** The list is read at most this often, however many events come. */
const REFRESH_MS = 400;

// An answer may be older than the events that came meanwhile.
queryClient.setQueryDefaults(trpc.channels.list.queryKey(), {
  structuralSharing: (before, after) => newestOf(before as Listed[] | undefined, after as Listed[]),
});

/** Keeps the list of channels right while the page is open, and leaves a channel that is lost. Used once, by the shell. */
export function useChannelsLive(): void {
  const me = useMe();
  const { channelId: open } = useParams({ strict: false });
  const list = trpc.channels.list.queryKey();
  const refresh = useThrottledCallback(
    () => void queryClient.invalidateQueries({ queryKey: list }),
    REFRESH_MS,
  );
  const leaveIfLost = useLeaving();

  const apply = (change: (channels: Listed[]) => Outcome) => {
    const channels = queryClient.getQueryData<Listed[]>(list);
    if (!channels) return;
    const outcome = change(channels);
    if (outcome.channels !== channels) queryClient.setQueryData<Listed[]>(list, outcome.channels);
    if (outcome.stale) refresh();
  };
  const channelChanged = (channelId: string, type: string) => {
    if (!type.startsWith('channel:')) return;
    if (channelId === open) void leaveIfLost(channelId);
    if (type.startsWith('channel:member')) void queryClient.invalidateQueries(trpc.members.list.pathFilter());
  };
  useLive({
    onEvent: (event) => {
      apply((channels) => afterEvent(channels, event, me));
      channelChanged(event.channel_id, event.data.type);
    },
    onNotice: (notice) => {
      apply((channels) => afterNotice(channels, notice));
      channelChanged(notice.channel_id, notice.data.type);
    },
    onReload: () => refresh(),
  });
  // Notices are lost with a connection.
  const { state } = useLiveState();
  useEffect(() => {
    if (state === 'live') refresh();
  }, [state, refresh]);
}

/** Reads the open channel again; leads away from it when the person may no longer read it. */
function useLeaving(): (channelId: string) => Promise<void> {
  const { t } = useTranslation('channels');
  const navigate = useNavigate();
  return async (channelId) => {
    const options = trpc.channels.get.queryOptions({ id: channelId });
    try {
      await queryClient.fetchQuery({ ...options, staleTime: 0 });
    } catch (error) {
      if (!isParleyError(error) || (error.status !== 403 && error.status !== 404)) return;
      queryClient.removeQueries(options);
      notifications.show({ message: t('lost') });
      await navigate({ to: '/' });
    }
  };
}
