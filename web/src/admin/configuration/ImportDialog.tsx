import { Button, FileButton, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { readJson } from '../../base/files.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { type Difference, differences } from '../settings/history/compare.ts';
import { Differences } from '../settings/history/Differences.tsx';
import { invalidate } from '../settings/useDrafts.ts';

type Tree = Record<string, unknown>;

interface Trial {
  name: string;
  config: Tree;
  changes: Difference[];
}

/** An import from a file: first a trial that shows what it would change, then the import itself. */
export default function ImportDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('config');
  const queryClient = useQueryClient();
  const trial = useMutation({
    meta: { showsError: true },
    mutationFn: (file: File) => tryFile(file, t('file.notJson')),
  });
  const [isDone, setDone] = useState(false);
  const { data } = trial;
  const importing = useMutation({
    meta: { showsError: true },
    mutationFn: (config: Tree) => api.configs.import.mutate({ config, fill: 'defaults' }),
    async onSuccess() {
      setDone(true);
      await invalidate(queryClient);
    },
  });
  const count = data?.changes.length ?? 0;
  return (
    <Modal opened onClose={onClose} title={t('file.import')} size="xl">
      <Stack gap="md">
        {!data && <Text size="sm">{t('file.importHint')}</Text>}
        {data && (
          <Text size="sm" role="status">
            {t(isDone ? 'file.done' : 'file.would', { name: data.name, count })}
          </Text>
        )}
        {data && <Differences items={data.changes} empty={t('file.same')} />}
        <ErrorNote error={trial.error ?? importing.error} />
        <Group justify="flex-end" gap="xs">
          {!isDone && (
            <FileButton accept="application/json,.json" onChange={(file) => file && trial.mutate(file)}>
              {(properties) => (
                <Button variant={data ? 'default' : 'filled'} loading={trial.isPending} {...properties}>
                  {t(data ? 'file.chooseOther' : 'file.choose')}
                </Button>
              )}
            </FileButton>
          )}
          {data && count > 0 && !isDone && (
            <Button loading={importing.isPending} onClick={() => importing.mutate(data.config)}>
              {t('file.importNow')}
            </Button>
          )}
          {isDone && <Button onClick={onClose}>{t('common:action.close')}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}

/** Asks the server what an import of the file would change. Nothing is stored. */
async function tryFile(file: File, notJson: string): Promise<Trial> {
  const config = await readJson(file);
  if (!isTree(config)) throw new Error(notJson);
  const [before, after] = await Promise.all([
    api.configs.export.query({}),
    api.configs.import.mutate({ config, fill: 'defaults', dry_run: true }),
  ]);
  return { name: file.name, config, changes: differences(before, after) };
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
