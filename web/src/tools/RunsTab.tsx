import { Button, Skeleton, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../base/time.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { duration, megabytes } from './format.ts';

const PAGE = 50;
/** The server gives no more at once. */
const MOST = 200;

/** The latest calls of the tool by anyone. */
export function RunsTab({ toolId }: { toolId: string }) {
  const { t } = useTranslation(['tools', 'common']);
  const [limit, setLimit] = useState(PAGE);
  const { data, error, isPending, isFetching, refetch } = useQuery(
    trpc.tools.runs.queryOptions({ id: toolId, limit }, { placeholderData: keepPreviousData, staleTime: 0 }),
  );
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Skeleton height={200} />;
  if (data.length === 0) return <Text c="dimmed">{t('runs.empty')}</Text>;
  const heads = ['time', 'function', 'person', 'outcome', 'duration', 'cpu', 'memory', 'version'] as const;
  return (
    <Stack gap="sm" align="flex-start">
      <Table.ScrollContainer minWidth={720} w="100%">
        <Table verticalSpacing={6} aria-label={t('runs.title')}>
          <Table.Thead>
            <Table.Tr>
              {heads.map((head) => (
                <Table.Th key={head}>{t(`runs.${head}`)}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map((run) => (
              <Table.Tr key={run.id}>
                <Table.Td>{dayAndTime(dateOfSeconds(run.started_at))}</Table.Td>
                <Table.Td ff="monospace">{run.function}</Table.Td>
                <Table.Td>{run.user?.name ?? t('deletedAccount')}</Table.Td>
                <Table.Td c={run.outcome === 'ok' ? undefined : 'var(--mantine-color-error)'}>
                  {t(`runs.outcomes.${run.outcome}`, { defaultValue: run.outcome })}
                </Table.Td>
                <Table.Td>{duration(run.duration_ms)}</Table.Td>
                <Table.Td>{run.cpu_ms === null ? '' : duration(run.cpu_ms)}</Table.Td>
                <Table.Td>{run.peak_memory_bytes === null ? '' : megabytes(run.peak_memory_bytes)}</Table.Td>
                <Table.Td>{run.version}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {data.length === limit && limit < MOST && (
        <Button variant="default" size="xs" loading={isFetching} onClick={() => setLimit(MOST)}>
          {t('common:action.more')}
        </Button>
      )}
    </Stack>
  );
}
