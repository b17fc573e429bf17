import { Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { Outputs, Tool } from '@parley/client';
import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { DiffView } from '../../ui/code/CodeEditor.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { useToolRights } from '../rights.ts';

interface Properties {
  tool: Tool;
  entry: Outputs['toolHistory']['list'][number];
}

/** One version beside the current one, or beside the one before it. */
export function Comparison({ tool, entry }: Properties) {
  const { t } = useTranslation('tools');
  const { mayWrite } = useToolRights();
  const isCurrent = entry.id === tool.version_id;
  const [wished, setWith] = useState<'current' | 'before'>('current');
  const against = isCurrent ? 'before' : wished;
  const version = useSource(tool.id, entry.id);
  const before = useSource(tool.id, against === 'before' ? entry.parent_id : null);
  const isFirst = against === 'before' && entry.parent_id === null;
  const own = version.data?.snapshot.content;
  const parent = isFirst ? '' : before.data?.snapshot.content;
  const [original, modified] = against === 'before' ? [parent, own] : [own, tool.content ?? ''];
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5">
          {t(`versions.against.${against}`, { number: entry.id })}
        </Title>
        {!isCurrent && (
          <Group gap="xs">
            <SegmentedControl
              size="xs"
              aria-label={t('versions.compare')}
              value={against}
              onChange={(chosen) => setWith(chosen as 'current' | 'before')}
              data={(['current', 'before'] as const).map((value) => ({
                value,
                label: t(`versions.with.${value}`),
              }))}
            />
            {mayWrite && <RestoreButton tool={tool} number={entry.id} />}
          </Group>
        )}
      </Group>
      <ErrorNote error={version.error ?? before.error} />
      {original === undefined || modified === undefined ? (
        !version.error && !before.error && <Skeleton height={240} />
      ) : (
        <DiffView
          label={t('versions.difference')}
          original={original}
          modified={modified}
          language="python"
        />
      )}
      {original === modified && <Text c="dimmed">{t('versions.same')}</Text>}
    </Stack>
  );
}

const useSource = (id: string, historyId: string | null) =>
  useQuery(
    trpc.toolHistory.get.queryOptions(historyId === null ? skipToken : { id, history_id: historyId }, {
      staleTime: Number.POSITIVE_INFINITY,
    }),
  );

function RestoreButton({ tool, number }: { tool: Tool; number: string }) {
  const { t } = useTranslation('tools');
  const queryClient = useQueryClient();
  const restore = useMutation(
    trpc.toolVersions.restore.mutationOptions({
      onSuccess(stored) {
        queryClient.setQueryData(trpc.tools.get.queryKey({ id: tool.id }), stored);
        for (const part of [trpc.tools.list, trpc.valves, trpc.toolInstall])
          void queryClient.invalidateQueries({ queryKey: part.pathKey() });
      },
    }),
  );
  return (
    <ConfirmButton
      size="xs"
      label={t('versions.restore')}
      title={t('versions.restoreTitle', { number })}
      confirm={t('versions.restore')}
      onConfirm={() => restore.mutateAsync({ id: tool.id, version: Number(number) })}
    >
      <Text>{t('versions.restoreHint')}</Text>
    </ConfirmButton>
  );
}
