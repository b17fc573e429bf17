import { Button, Group, SegmentedControl, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Download, Plus, Search, Wrench } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { saveJson } from '../../base/files.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { ButtonTo } from '../../ui/links.tsx';
import { Page } from '../../ui/Page.tsx';
import { useToolRights } from '../rights.ts';
import { type Listing, ToolRow } from './ToolRow.tsx';

type Show = 'all' | 'mine' | 'shared';

export function ToolsPage() {
  const { t } = useTranslation('tools');
  const { data, error, refetch, isPending } = useQuery(trpc.tools.list.queryOptions());
  return (
    <Page title={t('title')} actions={<Actions hasTools={(data?.length ?? 0) > 0} />} wide>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {isPending && <Loading />}
      {data && data.length === 0 && <NoTools />}
      {data && data.length > 0 && <List tools={data} />}
    </Page>
  );
}

function Actions({ hasTools }: { hasTools: boolean }) {
  const { t } = useTranslation('tools');
  const rights = useToolRights();
  const save = useMutation({
    mutationFn: () => api.tools.export.query(),
    onSuccess: (tools) => saveJson('tools.json', tools),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      {rights.mayExport && hasTools && (
        <Button
          variant="default"
          size="xs"
          visibleFrom="sm"
          loading={save.isPending}
          onClick={() => save.mutate()}
          leftSection={<Download size={14} aria-hidden />}
        >
          {t('export.all')}
        </Button>
      )}
      {rights.mayImport && (
        <ButtonTo to="/tools/import" variant="default" size="xs">
          {t('import.title')}
        </ButtonTo>
      )}
      {rights.mayWrite && (
        <ButtonTo to="/tools/new" size="xs" leftSection={<Plus size={14} aria-hidden />}>
          {t('create.title')}
        </ButtonTo>
      )}
    </Group>
  );
}

function NoTools() {
  const { t } = useTranslation('tools');
  const { mayWrite } = useToolRights();
  const action: ReactNode = mayWrite && <ButtonTo to="/tools/new">{t('create.title')}</ButtonTo>;
  return (
    <Empty icon={<Wrench size={28} aria-hidden />} title={t('list.empty')} action={action}>
      {mayWrite ? t('list.emptyHint') : t('list.emptyReader')}
    </Empty>
  );
}

function List({ tools }: { tools: Listing[] }) {
  const { t } = useTranslation('tools');
  const me = useMe();
  const [search, setSearch] = useState('');
  const [show, setShow] = useState<Show>('all');
  const words = search.trim().toLowerCase();
  const found = tools.filter(
    ({ id, name, meta, user_id }) =>
      (show === 'all' || (user_id === me.id) === (show === 'mine')) &&
      [id, name, meta.description ?? ''].some((text) => text.toLowerCase().includes(words)),
  );
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <TextInput
          aria-label={t('list.search')}
          placeholder={t('list.search')}
          leftSection={<Search size={14} aria-hidden />}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          style={{ flex: '1 1 200px' }}
          maw={360}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('list.show')}
          value={show}
          onChange={(chosen) => setShow(chosen as Show)}
          data={(['all', 'mine', 'shared'] as const).map((value) => ({
            value,
            label: t(`list.${value}`),
          }))}
        />
      </Group>
      {found.length === 0 && <Text c="dimmed">{t('list.nothing')}</Text>}
      <Stack gap={0} component="ul" m={0} p={0} aria-label={t('title')}>
        {found.map((tool) => (
          <ToolRow key={tool.id} tool={tool} />
        ))}
      </Stack>
    </Stack>
  );
}

function Loading() {
  return (
    <Stack gap="sm">
      <Skeleton height={32} maw={360} />
      {[1, 2, 3, 4].map((row) => (
        <Skeleton key={row} height={48} />
      ))}
    </Stack>
  );
}
