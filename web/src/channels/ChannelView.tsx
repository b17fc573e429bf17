import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { trpc } from '../api/query.ts';
import { Page } from '../ui/Page.tsx';
import { rememberChannel } from './last.ts';

export function ChannelView() {
  const { channelId } = useParams({ from: '/shell/channels/$channelId' });
  const { data: channel } = useSuspenseQuery(trpc.channels.get.queryOptions({ id: channelId }));
  useEffect(() => rememberChannel(channelId), [channelId]);
  return (
    <Page title={channel.name} wide>
      {channel.description}
    </Page>
  );
}
