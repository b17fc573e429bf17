import { Badge, Loader, SegmentedControl, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { MessagesSquare } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { dateOfNs, dayAndTime } from '../../base/time.ts';
import { plainText } from '../../composer/mentions.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MoreButton } from '../../ui/list/MoreButton.tsx';
import { Page } from '../../ui/Page.tsx';
import { FOUND_CHARACTERS, FoundMessage } from './FoundMessage.tsx';
import { useTitles } from './useTitles.ts';

const PAGE_ROWS = 20;

/** The threads that the person began, replied to or was mentioned in. */
export function ThreadsView() {
  const { t } = useTranslation('channels');
  const [unread, setUnread] = useState(false);
  return (
    <Page
      title={t('threads.title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('threads.filter')}
          value={unread ? 'unread' : 'all'}
          onChange={(value) => setUnread(value === 'unread')}
          data={[
            { value: 'all', label: t('threads.all') },
            { value: 'unread', label: t('threads.unread') },
          ]}
        />
      }
    >
      <ThreadList unread={unread} />
    </Page>
  );
}

function ThreadList({ unread }: { unread: boolean }) {
  const { t } = useTranslation(['channels', 'common']);
  const titles = useTitles();
  const list = useInfiniteQuery({
    queryKey: [...trpc.threads.list.pathKey(), 'pages', { unread }],
    queryFn: ({ pageParam }) => api.threads.list.query({ unread, skip: pageParam, limit: PAGE_ROWS }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_ROWS ? undefined : pages.length * PAGE_ROWS),
  });
  const threads = list.data?.pages.flat();
  return (
    <Stack gap={4}>
      <ErrorNote error={list.error} />
      {list.isPending && <Loader size="sm" />}
      {threads?.length === 0 && (
        <Empty
          icon={<MessagesSquare size={32} aria-hidden />}
          title={t(unread ? 'threads.noneUnread' : 'threads.none')}
        >
          {t('threads.noneHint')}
        </Empty>
      )}
      {threads?.map(({ root, channel, unread_count }) => (
        <FoundMessage
          key={root.id}
          message={{ ...root, parent_id: root.id }}
          channelTitle={titles(channel)}
          note={
            unread_count > 0 && (
              <Badge size="sm" tt="none">
                {t('threads.new', { count: unread_count })}
              </Badge>
            )
          }
        >
          {plainText(root.content, FOUND_CHARACTERS)}
          <Text size="xs" c="dimmed" mt={4}>
            {t('threads.replies', { count: root.reply_count })}
            {root.latest_reply_at !== null &&
              ` · ${t('threads.latest', { date: dayAndTime(dateOfNs(root.latest_reply_at)) })}`}
          </Text>
        </FoundMessage>
      ))}
      <MoreButton list={list} />
    </Stack>
  );
}
