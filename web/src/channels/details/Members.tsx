import { Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Channel } from '@parley/client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MoreButton } from '../../ui/list/MoreButton.tsx';
import { AddMembers } from './AddMembers.tsx';
import { MemberRow } from './MemberRow.tsx';

const PAGE_ROWS = 30;
const SEARCH_DELAY_MS = 150;

/** The people who read the channel; managers of a group add and remove them. */
export function Members({ channel }: { channel: Channel }) {
  const { t } = useTranslation(['channels', 'common']);
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS);
  const isManaged = channel.type === 'group' && channel.is_manager;
  const list = useMembers(channel.id, query);
  const { data, error } = list;
  const members = data?.pages.flatMap(({ users }) => users);
  return (
    <Stack gap="sm">
      {isManaged && <AddMembers channelId={channel.id} />}
      <TextInput
        aria-label={t('members.search')}
        placeholder={t('members.search')}
        leftSection={<Search size={15} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Text size="xs" c="dimmed" aria-live="polite">
        {t('members.count', { count: data?.pages[0]?.total ?? channel.user_count })}
      </Text>
      <ErrorNote error={error} />
      <ul style={{ listStyle: 'none', margin: 0, padding: 0 }}>
        {!members && !error && <Loading />}
        {members?.map((member) => (
          <MemberRow key={member.id} member={member} channel={channel} isManaged={isManaged} />
        ))}
      </ul>
      <MoreButton list={list} />
    </Stack>
  );
}

const useMembers = (id: string, query: string) =>
  useInfiniteQuery({
    queryKey: [...trpc.members.list.pathKey(), { id, query }],
    queryFn: ({ pageParam }) => api.members.list.query({ id, page: pageParam, ...(query && { query }) }),
    initialPageParam: 1,
    getNextPageParam: ({ total }, pages) => (pages.length * PAGE_ROWS < total ? pages.length + 1 : undefined),
    placeholderData: keepPreviousData,
  });

const Loading = () =>
  [1, 2, 3].map((row) => (
    <Group key={row} gap="xs" mih={44}>
      <Skeleton height={28} width={28} />
      <Skeleton height={12} width={140} />
    </Group>
  ));
