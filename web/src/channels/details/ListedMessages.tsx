import { Skeleton, Stack } from '@mantine/core';
import type { Message } from '@parley/client';
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLive } from '../../api/live.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MoreButton } from '../../ui/list/MoreButton.tsx';

const PAGE_ROWS = 20;

interface Properties {
  channelId: string;
  queryKey: QueryKey;
  /** A page of the list, from 1. */
  load(page: number): Promise<Message[]>;
  /** The events after which the list is read again. */
  events: readonly string[];
  empty: ReactNode;
  children(message: Message): ReactNode;
}

/** Some messages of a channel, page by page. */
export function ListedMessages({ channelId, queryKey, load, events, empty, children }: Properties) {
  const list = useInfiniteQuery({
    queryKey: [...queryKey, { id: channelId }],
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: 1,
    getNextPageParam: (page, pages) => (page.length < PAGE_ROWS ? undefined : pages.length + 1),
  });
  useLive({
    onEvent: ({ channel_id, data: { type } }) => {
      if (channel_id === channelId && events.includes(type)) void list.refetch();
    },
  });
  const messages = list.data?.pages.flat();
  return (
    <Stack gap={4}>
      <ErrorNote error={list.error} />
      {list.isPending && <Skeleton height={56} />}
      {messages?.length === 0 && empty}
      {messages?.map(children)}
      <MoreButton list={list} />
    </Stack>
  );
}
