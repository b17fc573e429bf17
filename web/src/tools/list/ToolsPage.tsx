import { Group, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Plus, Wrench } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { ButtonTo } from '../../ui/links.tsx';
import { ExportButton } from '../../ui/list/ExportButton.tsx';
import { SearchList, SearchListSkeleton } from '../../ui/list/SearchList.tsx';
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
      {isPending && <SearchListSkeleton />}
      {data && data.length === 0 && <NoTools />}
      {data && data.length > 0 && <List tools={data} />}
    </Page>
  );
}

function Actions({ hasTools }: { hasTools: boolean }) {
  const { t } = useTranslation('tools');
  const rights = useToolRights();
  return (
    <Group gap="xs" wrap="nowrap">
      {rights.mayExport && hasTools && (
        <ExportButton label={t('export.all')} fileName="tools.json" load={() => api.tools.export.query()} />
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
  const [show, setShow] = useState<Show>('all');
  return (
    <SearchList
      label={t('title')}
      searchLabel={t('list.search')}
      emptyText={t('list.nothing')}
      items={tools.filter(({ user_id }) => show === 'all' || (user_id === me.id) === (show === 'mine'))}
      textsOf={({ id, name, meta }) => [id, name, meta.description ?? '']}
      row={(tool) => <ToolRow key={tool.id} tool={tool} />}
      filters={
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
      }
    />
  );
}
