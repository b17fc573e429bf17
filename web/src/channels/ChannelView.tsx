import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { trpc } from '../api/query.ts';
import { Composer } from '../composer/Composer.tsx';
import { MessageBody } from '../messages/body/MessageBody.tsx';
import { Attachments } from '../messages/files/Attachments.tsx';
import { Page } from '../ui/Page.tsx';
import { ChannelActions } from './ChannelActions.tsx';
import { rememberChannel } from './last.ts';

export function ChannelView() {
  const { channelId } = useParams({ from: '/shell/channels/$channelId' });
  const { data: channel } = useSuspenseQuery(trpc.channels.get.queryOptions({ id: channelId }));
  const list = trpc.messages.list.queryOptions({ id: channelId });
  const { data: messages } = useQuery(list);
  const queryClient = useQueryClient();
  useLive({ onEvent: () => void queryClient.invalidateQueries(list) });
  useEffect(() => rememberChannel(channelId), [channelId]);
  return (
    <Page title={channel.name} actions={<ChannelActions channel={channel} />} wide>
      {messages?.toReversed().map((message) => (
        <div key={message.id}>
          <b>{message.user?.name}</b>
          <MessageBody
            message={message}
            isLive={message.meta.done === false}
            channelId={channelId}
            onStop={() => {}}
            onRetry={() => {}}
          />
          <Attachments files={message.data.files} />
        </div>
      ))}
      <Composer
        key={channelId}
        channelId={channelId}
        onQuoteEnd={() => {}}
        onTyping={() => {}}
        onSend={({ content, files, replyToId }) =>
          void api.messages.post.mutate({
            id: channelId,
            content,
            reply_to_id: replyToId,
            data: { files: files.map(({ id }) => ({ id })) },
          })
        }
      />
    </Page>
  );
}
