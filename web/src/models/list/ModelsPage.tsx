import { Button, Chip, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Boxes, Download, Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { saveJson } from '../../base/files.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { ButtonTo } from '../../ui/links.tsx';
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
      {!entries && !error && <Loading />}
      {entries?.length === 0 && <NoModels />}
      {entries && entries.length > 0 && <List entries={entries} />}
    </Page>
  );
}

function Actions({ hasModels }: { hasModels: boolean }) {
  const { t } = useTranslation('models');
  const rights = useModelRights();
  const save = useMutation({
    mutationFn: () => api.modelTransfer.export.query({}),
    onSuccess: (models) => saveJson('models.json', models),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      {rights.mayExport && hasModels && (
        <Button
          variant="default"
          size="xs"
          visibleFrom="sm"
          loading={save.isPending}
          onClick={() => save.mutate()}
          leftSection={<Download size={14} aria-hidden />}
        >
          {t('export')}
        </Button>
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
  const [search, setSearch] = useState('');
  const [tag, setTag] = useState<string | null>(null);
  const words = search.trim().toLowerCase();
  const tags = [...new Set(entries.flatMap((entry) => entry.tags))].toSorted();
  const found = entries.filter(
    ({ id, name, description, tags: own }) =>
      (tag === null || own.includes(tag)) &&
      [id, name, description].some((text) => text.toLowerCase().includes(words)),
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
        {tags.map((name) => (
          <Chip key={name} size="xs" checked={tag === name} onChange={(isOn) => setTag(isOn ? name : null)}>
            {name}
          </Chip>
        ))}
      </Group>
      {found.length === 0 && <Text c="dimmed">{t('list.nothing')}</Text>}
      <Stack gap={0} component="ul" m={0} p={0} aria-label={t('title')}>
        {found.map((entry) => (
          <ModelRow key={entry.id} entry={entry} />
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
        <Skeleton key={row} height={52} />
      ))}
    </Stack>
  );
}
