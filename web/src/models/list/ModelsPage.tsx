import { Chip, Group } from '@mantine/core';
import { Boxes, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { ButtonTo } from '../../ui/links.tsx';
import { ExportButton } from '../../ui/list/ExportButton.tsx';
import { SearchList, SearchListSkeleton } from '../../ui/list/SearchList.tsx';
import { Page } from '../../ui/Page.tsx';
import { type Entry, useEntries } from '../entries.ts';
import { useModelRights } from '../rights.ts';
import { ModelRow } from './ModelRow.tsx';

export function ModelsPage() {
  const { t } = useTranslation('models');
  const { entries, error, refetch } = useEntries();
  return (
    <Page title={t('title')} actions={<Actions hasModels={(entries?.length ?? 0) > 0} />} wide>
      <ErrorNote error={error} onRetry={refetch} />
      {!entries && !error && <SearchListSkeleton />}
      {entries?.length === 0 && <NoModels />}
      {entries && entries.length > 0 && <List entries={entries} />}
    </Page>
  );
}

function Actions({ hasModels }: { hasModels: boolean }) {
  const { t } = useTranslation('models');
  const rights = useModelRights();
  return (
    <Group gap="xs" wrap="nowrap">
      {rights.mayExport && hasModels && (
        <ExportButton
          label={t('export')}
          fileName="models.json"
          load={() => api.modelTransfer.export.query({})}
        />
      )}
      {rights.mayImport && (
        <ButtonTo to="/models/import" variant="default" size="xs" visibleFrom="sm">
          {t('import.title')}
        </ButtonTo>
      )}
      {rights.mayWrite && (
        <ButtonTo to="/models/new" size="xs" leftSection={<Plus size={14} aria-hidden />}>
          {t('create.title')}
        </ButtonTo>
      )}
    </Group>
  );
}

function NoModels() {
  const { t } = useTranslation('models');
  const { isAdmin } = useModelRights();
  return (
    <Empty icon={<Boxes size={28} aria-hidden />} title={t('list.empty')}>
      {t(isAdmin ? 'list.emptyHint' : 'list.emptyReader')}
    </Empty>
  );
}

function List({ entries }: { entries: Entry[] }) {
  const { t } = useTranslation('models');
  const [tag, setTag] = useState<string | null>(null);
  const tags = [...new Set(entries.flatMap((entry) => entry.tags))].toSorted();
  return (
    <SearchList
      label={t('title')}
      searchLabel={t('list.search')}
      emptyText={t('list.nothing')}
      items={entries.filter((entry) => tag === null || entry.tags.includes(tag))}
      textsOf={({ id, name, description }) => [id, name, description]}
      row={(entry) => <ModelRow key={entry.id} entry={entry} />}
      filters={tags.map((name) => (
        <Chip key={name} size="xs" checked={tag === name} onChange={(isOn) => setTag(isOn ? name : null)}>
          {name}
        </Chip>
      ))}
    />
  );
}
