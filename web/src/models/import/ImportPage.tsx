import { Button, FileInput, Group, Stack, Table, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { readJson } from '../../base/files.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Page } from '../../ui/Page.tsx';

type Item = Outputs['modelTransfer']['import']['items'][number];

/** Stores the records of an export, and tells for each whether it was stored. */
export function ImportPage() {
  const { t } = useTranslation('models');
  const queryClient = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const store = useMutation({
    mutationFn: async (chosen: File) =>
      api.modelTransfer.import.mutate({ models: await readModels(chosen, t('import.notExport')) }),
    meta: { showsError: true },
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: trpc.models.pathKey() }),
        queryClient.invalidateQueries({ queryKey: trpc.modelWorkspace.pathKey() }),
      ]),
  });
  return (
    <Page title={t('import.title')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('import.hint')}
        </Text>
        <Group align="end" gap="xs">
          <FileInput
            label={t('import.choose')}
            placeholder={t('import.choosePlaceholder')}
            accept=".json,application/json"
            value={file}
            onChange={(chosen) => {
              setFile(chosen);
              store.reset();
            }}
            style={{ flex: '1 1 240px' }}
          />
          <Button disabled={!file} loading={store.isPending} onClick={() => file && store.mutate(file)}>
            {t('import.store')}
          </Button>
        </Group>
        <ErrorNote error={store.error} />
        {store.data && <Outcomes items={store.data.items} />}
      </Stack>
    </Page>
  );
}

/** An export is a list of records; other systems wrap it. */
async function readModels(file: File, complaint: string): Promise<unknown[]> {
  const content = await readJson(file);
  const models = Array.isArray(content)
    ? content
    : (content as { models?: unknown } | null | undefined)?.models;
  if (!Array.isArray(models)) throw new Error(complaint);
  return models;
}

function Outcomes({ items }: { items: Item[] }) {
  const { t } = useTranslation('models');
  return (
    <Table.ScrollContainer minWidth={400}>
      <Table aria-label={t('import.outcome')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('field.name')}</Table.Th>
            <Table.Th>{t('import.outcome')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map(({ id, name, outcome, reason, warnings = [] }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two entries may have the same id
            <Table.Tr key={index}>
              <Table.Td>{name ?? id ?? t('import.nameless', { number: index + 1 })}</Table.Td>
              <Table.Td>{[t(`import.${outcome}`), reason, ...warnings].filter(Boolean).join(' ')}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
