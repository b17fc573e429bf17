import { Group, SimpleGrid, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { DiffView } from '../../ui/code/CodeEditor.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MoreButton } from '../../ui/list/MoreButton.tsx';
import type { ModelRecord } from '../entries.ts';
import { useRefresh } from './useRefresh.ts';
import classes from './VersionsTab.module.css';

type Version = Outputs['modelVersions']['list'][number];

/** What the server answers at a time. */
const PAGE_VERSIONS = 20;

/** The versions of a record, the newest first: each compared with the record as it is, and restored. */
export function VersionsTab({ record }: { record: ModelRecord }) {
  const { t } = useTranslation(['models', 'common']);
  const [chosen, setChosen] = useState<string | null>(null);
  const list = useInfiniteQuery({
    queryKey: [...trpc.modelVersions.pathKey(), record.id],
    queryFn: ({ pageParam }) => api.modelVersions.list.query({ id: record.id, page: pageParam }),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.length < PAGE_VERSIONS ? undefined : pages.length + 1),
  });
  const { data, error, isPending } = list;
  const versions = data?.pages.flat() ?? [];
  const shown = versions.find(({ id }) => id === chosen) ?? versions.find(({ is_current }) => !is_current);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <Stack gap="xs">
        <ErrorNote error={error} />
        {isPending && <Skeleton height={160} />}
        <ol className={classes.list} aria-label={t('versions.title')}>
          {versions.map((version) => (
            <Row
              key={version.id}
              version={version}
              isShown={version.id === shown?.id}
              onShow={() => setChosen(version.id)}
            />
          ))}
        </ol>
        <MoreButton list={list} />
      </Stack>
      {shown && <Comparison record={record} version={shown} />}
      {!shown && !isPending && <Text c="dimmed">{t('versions.only')}</Text>}
    </SimpleGrid>
  );
}

interface RowProperties {
  version: Version;
  isShown: boolean;
  onShow(): void;
}

function Row({ version: { user, commit_message, created_at, is_current }, isShown, onShow }: RowProperties) {
  const { t } = useTranslation('models');
  return (
    <li>
      <UnstyledButton className={classes.row} aria-pressed={isShown} onClick={onShow}>
        <Group gap="xs">
          <Text span size="sm" fw={500}>
            {dayAndTime(dateOfSeconds(created_at))}
          </Text>
          {is_current && (
            <Text span size="xs" c="dimmed">
              {t('versions.current')}
            </Text>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {[user?.name, commit_message].filter(Boolean).join(' · ')}
        </Text>
      </UnstyledButton>
    </li>
  );
}

type Snapshot = Version['snapshot'];

const jsonOf = ({ name, base_model_id, params, meta }: Snapshot): string => {
  const { profile_image_url: _picture, ...shown } = meta;
  return JSON.stringify({ name, base_model_id, params, meta: shown }, null, 2);
};

function Comparison({ record, version }: { record: ModelRecord; version: Version }) {
  const { t } = useTranslation('models');
  const refresh = useRefresh();
  const restore = useMutation(trpc.modelVersions.restore.mutationOptions({ onSuccess: refresh }));
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {t('versions.comparison')}
        </Text>
        {!version.is_current && (
          <ConfirmButton
            size="xs"
            label={t('versions.restore')}
            title={t('versions.restoreTitle')}
            confirm={t('versions.restore')}
            onConfirm={() => restore.mutateAsync({ id: record.id, version_id: version.id })}
          >
            {t('versions.restoreHint')}
          </ConfirmButton>
        )}
      </Group>
      <DiffView
        label={t('versions.comparison')}
        original={jsonOf(version.snapshot)}
        modified={jsonOf(record)}
        language="json"
      />
    </Stack>
  );
}
