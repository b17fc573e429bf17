import { Button, FileInput, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { OutcomeTable } from './OutcomeTable.tsx';
import { importTools, type Outcome, readExport } from './read.ts';

interface Trial {
  tools: unknown[];
  /** The outcome of each tool, in their order. */
  items: Outcome[];
}

/** First all tools of the file are tried; then those that load are stored. */
export function FromExport() {
  const { t } = useTranslation('tools');
  const queryClient = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const trial = useMutation({
    async mutationFn(chosen: File): Promise<Trial> {
      const tools = await readExport(chosen, t('import.notExport'));
      return { tools, items: await importTools(tools, true) };
    },
    meta: { showsError: true },
  });
  const store = useMutation({
    mutationFn: ({ tools, items }: Trial) =>
      importTools(
        tools.filter((_tool, index) => items[index]?.outcome === 'storable'),
        false,
      ),
    meta: { showsError: true },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.tools.list.queryKey() }),
  });
  const storable = trial.data?.items.filter(({ outcome }) => outcome === 'storable').length ?? 0;
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t('import.fileHint')}
      </Text>
      <Group align="end" gap="xs">
        <FileInput
          label={t('import.choose')}
          placeholder={t('import.choosePlaceholder')}
          accept=".json,application/json"
          clearable
          clearButtonProps={{ 'aria-label': t('import.clear') }}
          value={file}
          onChange={(chosen) => {
            setFile(chosen);
            trial.reset();
            store.reset();
          }}
          style={{ flex: '1 1 240px' }}
        />
        <Button
          variant="default"
          disabled={!file}
          loading={trial.isPending}
          onClick={() => file && trial.mutate(file)}
        >
          {t('import.try')}
        </Button>
      </Group>
      <ErrorNote error={trial.error ?? store.error} />
      {trial.data && !store.data && (
        <>
          <OutcomeTable items={trial.data.items} />
          <Group>
            <Button
              disabled={storable === 0}
              loading={store.isPending}
              onClick={() => trial.data && store.mutate(trial.data)}
            >
              {t('import.store', { count: storable })}
            </Button>
          </Group>
        </>
      )}
      {store.data && <OutcomeTable items={store.data} />}
    </Stack>
  );
}
