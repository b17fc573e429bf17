import { isParleyError } from '@parley/client';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useLive } from '../api/live.ts';
import { queryClient, trpc } from '../api/query.ts';
import { ChannelGone } from './ChannelGone.tsx';
import { ChannelLine } from './ChannelLine.tsx';
import { rememberChannel } from './last.ts';

const isRefusal = (error: unknown) => isParleyError(error) && (error.status === 403 || error.status === 404);

export function ChannelView() {
  const { channelId } = useParams({ from: '/shell/channels/$channelId' });
  const query = trpc.channels.get.queryOptions({ id: channelId });
  const { data: channel, error } = useSuspenseQuery(query);
  const look = () => void queryClient.invalidateQueries(query);
  // Rights may have changed with the channel or its members; see also `useRightsLive`.
  useLive({
    onEvent: (event) => event.channel_id === channelId && event.data.type.startsWith('channel:') && look(),
    onNotice: ({ channel_id, data }) =>
      channel_id === channelId && data.type.startsWith('channel:') && data.type !== 'channel:mute' && look(),
    onReload: (reloaded) => reloaded === channelId && look(),
  });
  useEffect(() => rememberChannel(channelId), [channelId]);
  if (isRefusal(error)) return <ChannelGone name={channel.name} />;
  return <ChannelLine key={channelId} channel={channel} />;
}
