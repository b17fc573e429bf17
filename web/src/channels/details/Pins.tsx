import { Button, Stack } from '@mantine/core';
import type { Channel } from '@parley/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Pin } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { trpc } from '../../api/query.ts';
import { closeOverlay } from '../../base/overlay.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { FoundMessage, plainText } from '../find/FoundMessage.tsx';

const PAGE_ROWS = 20;

/** The pinned messages of a channel, the newest pin first. */
export function Pins({ channel }: { channel: Channel }) {
  const { t } = useTranslation(['channels', 'common']);
  const { id } = channel;
  const pins = useInfiniteQuery({
    queryKey: [...trpc.messages.pinned.pathKey(), { id }],
    queryFn: ({ pageParam }) => api.messages.pinned.query({ id, page: pageParam }),
    initialPageParam: 1,
    getNextPageParam: (page, pages) => (page.length < PAGE_ROWS ? undefined : pages.length + 1),
  });
  useLive({
    onEvent: ({ channel_id, data: { type } }) => {
      if (channel_id === id && type === 'message:update') void pins.refetch();
    },
  });
  const messages = pins.data?.pages.flat();
  return (
    <Stack gap={4}>
      <ErrorNote error={pins.error} />
      {messages?.length === 0 && (
        <Empty icon={<Pin size={28} aria-hidden />} title={t('pins.none')}>
          {t('pins.noneHint')}
        </Empty>
      )}
      {messages?.map((message) => (
        <FoundMessage key={message.id} message={message} onOpen={closeOverlay}>
          {plainText(message.content)}
        </FoundMessage>
      ))}
      {pins.hasNextPage && (
        <Button
          size="xs"
          variant="default"
          loading={pins.isFetchingNextPage}
          onClick={() => void pins.fetchNextPage()}
        >
          {t('common:action.more')}
        </Button>
      )}
    </Stack>
  );
}
