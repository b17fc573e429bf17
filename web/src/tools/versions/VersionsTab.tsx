import { Group, SimpleGrid, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import type { Outputs, Tool } from '@parley/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MoreButton } from '../../ui/list/MoreButton.tsx';
import { Comparison } from './Comparison.tsx';
import classes from './VersionsTab.module.css';

type Entry = Outputs['toolHistory']['list'][number];

/** The server's pages. */
const PAGE_ENTRIES = 20;

/** The versions of the source: each compared with the current one or the one before, and restored. */
export function VersionsTab({ tool }: { tool: Tool }) {
  const { t } = useTranslation(['tools', 'common']);
  const [chosen, setChosen] = useState<string | null>(null);
  const list = useInfiniteQuery({
    queryKey: [...trpc.toolHistory.pathKey(), tool.id, tool.version_id],
    queryFn: ({ pageParam }) => api.toolHistory.list.query({ id: tool.id, page: pageParam }),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.length < PAGE_ENTRIES ? undefined : pages.length + 1),
  });
  const { data, error, isPending } = list;
  const entries = data?.pages.flat() ?? [];
  const before = entries.find(({ id }) => id !== tool.version_id)?.id ?? null;
  const shown = entries.find(({ id }) => id === (chosen ?? before));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" className={classes.grid}>
      <Stack gap="xs">
        <ErrorNote error={error} />
        {isPending && <Skeleton height={160} />}
        <ol className={classes.list} aria-label={t('versions.title')}>
          {entries.map((entry) => (
            <VersionRow
              key={entry.id}
              entry={entry}
              isCurrent={entry.id === tool.version_id}
              isShown={entry.id === shown?.id}
              onShow={() => setChosen(entry.id)}
            />
          ))}
        </ol>
        <MoreButton list={list} />
      </Stack>
      {shown ? (
        <Comparison key={shown.id} tool={tool} entry={shown} />
      ) : (
        !isPending && <Text c="dimmed">{t('versions.only')}</Text>
      )}
    </SimpleGrid>
  );
}

interface RowProperties {
  entry: Entry;
  isCurrent: boolean;
  isShown: boolean;
  onShow(): void;
}

function VersionRow({ entry, isCurrent, isShown, onShow }: RowProperties) {
  const { t } = useTranslation('tools');
  const person = entry.user?.name ?? t('deletedAccount');
  return (
    <li>
      <UnstyledButton className={classes.row} aria-pressed={isShown} onClick={onShow}>
        <Group gap="xs">
          <Text span size="sm" fw={600}>
            {t('versions.number', { number: entry.id })}
          </Text>
          {isCurrent && (
            <Text span size="xs" c="dimmed">
              {t('versions.current')}
            </Text>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {person} · {dayAndTime(dateOfSeconds(entry.created_at))}
        </Text>
        {entry.commit_message && <Text size="sm">{entry.commit_message}</Text>}
      </UnstyledButton>
    </li>
  );
}
