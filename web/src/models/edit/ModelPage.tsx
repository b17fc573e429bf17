import { Group, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Page } from '../../ui/Page.tsx';
import type { ModelRecord } from '../entries.ts';
import { TalkButton } from '../list/TalkButton.tsx';
import { useModelRights } from '../rights.ts';
import { AccessTab } from './AccessTab.tsx';
import { EditTab } from './EditTab.tsx';
import { useRefresh } from './useRefresh.ts';
import { VersionsTab } from './VersionsTab.tsx';
import { WhyTab } from './WhyTab.tsx';

/** The record of a model for the people who may change it. */
export function ModelPage() {
  const { t } = useTranslation('models');
  const { modelId } = useParams({ from: '/shell/models/$modelId' });
  const { data: record, error, refetch } = useQuery(trpc.models.get.queryOptions({ id: modelId }));
  return (
    <Page title={record?.name ?? t('title')} actions={record && <Actions record={record} />} wide>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {!record && !error && (
        <Stack gap="sm">
          <Skeleton height={32} />
          <Skeleton height={360} />
        </Stack>
      )}
      {record?.write_access && <Parts key={record.id} record={record} />}
      {record && !record.write_access && <Text>{String(record.meta.description ?? '')}</Text>}
    </Page>
  );
}

function Actions({ record: { id, name, is_active, write_access } }: { record: ModelRecord }) {
  const { t } = useTranslation('models');
  const navigate = useNavigate();
  const refresh = useRefresh();
  const remove = useMutation(
    trpc.models.delete.mutationOptions({
      async onSuccess() {
        await navigate({ to: '/models', ignoreBlocker: true });
        await refresh();
      },
    }),
  );
  return (
    <Group gap="xs" wrap="nowrap">
      {is_active && <TalkButton model={{ id, name }} />}
      {write_access && (
        <ConfirmButton
          label={t('delete.label')}
          icon={<Trash2 size={16} aria-hidden />}
          title={t('delete.title', { name })}
          confirm={t('delete.label')}
          onConfirm={() => remove.mutateAsync({ id })}
        >
          {t('delete.hint')}
        </ConfirmButton>
      )}
    </Group>
  );
}

function Parts({ record }: { record: ModelRecord }) {
  const { t } = useTranslation('models');
  const { isAdmin } = useModelRights();
  const { tab: wished } = useSearch({ from: '/shell/models/$modelId' });
  const navigate = useNavigate();
  const parts: Record<string, ReactNode> = {
    record: <EditTab record={record} />,
    access: <AccessTab record={record} />,
    versions: <VersionsTab record={record} />,
    ...(isAdmin && { why: <WhyTab record={record} /> }),
  };
  const tab = wished && wished in parts ? wished : 'record';
  const show = (next: string | null) =>
    void navigate({ to: '/models/$modelId', params: { modelId: record.id }, search: { tab: next ?? '' } });
  return (
    <Tabs value={tab} onChange={show} keepMounted={false}>
      <Tabs.List>
        {Object.keys(parts).map((name) => (
          <Tabs.Tab key={name} value={name}>
            {t(`tab.${name}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.entries(parts).map(([name, content]) => (
        // What was typed stays while another tab is shown.
        <Tabs.Panel key={name} value={name} pt="md" keepMounted={name === 'record'}>
          <Suspense fallback={<Skeleton height={200} />}>{content}</Suspense>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
