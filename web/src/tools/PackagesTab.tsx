import { Badge, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { Tool } from '@parley/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { CodeEditor } from '../ui/code/CodeEditor.tsx';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { useToolRights } from './rights.ts';

const COLORS = { none: 'gray', absent: 'gray', installing: 'blue', ready: 'teal', failed: 'red' } as const;
/** The installer sends no events. */
const POLL_MS = 1500;

/** The packages that the tool requires, and the log of their installation while it runs. */
export function PackagesTab({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tools');
  const { mayWrite } = useToolRights();
  const queryClient = useQueryClient();
  const input = { id: tool.id };
  const { data, error, refetch } = useQuery(
    trpc.toolInstall.get.queryOptions(input, {
      staleTime: 0,
      refetchInterval: ({ state }) => (state.data?.state === 'installing' ? POLL_MS : false),
    }),
  );
  const install = useMutation(
    trpc.toolInstall.start.mutationOptions({
      meta: { showsError: true },
      onSuccess: (now) => queryClient.setQueryData(trpc.toolInstall.get.queryKey(input), now),
    }),
  );
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={160} />;
  // While the configuration allows no installation, the server counts none; an administrator may have allowed it since.
  const isAsked = Boolean(tool.meta.manifest.requirements);
  const isMissing = data.state === 'absent' || data.state === 'failed' || (data.state === 'none' && isAsked);
  return (
    <Stack gap="sm" maw={880} align="flex-start">
      <Group gap="xs" role="status">
        <Badge variant="dot" color={COLORS[data.state]} tt="none">
          {t(`packages.state.${data.state}`)}
        </Badge>
        {(data.state !== 'none' || isAsked) && data.detail && <Text size="sm">{data.detail}</Text>}
      </Group>
      {data.state === 'none' && !isAsked && <Text c="dimmed">{t('packages.none')}</Text>}
      {data.requirements.length > 0 && (
        <Group gap={4} component="ul" m={0} p={0} aria-label={t('packages.requirements')}>
          {data.requirements.map((requirement) => (
            <li key={requirement} style={{ listStyle: 'none' }}>
              <Code>{requirement}</Code>
            </li>
          ))}
        </Group>
      )}
      {isMissing && mayWrite && (
        <Button size="xs" loading={install.isPending} onClick={() => install.mutate(input)}>
          {data.state === 'failed' ? t('packages.again') : t('packages.install')}
        </Button>
      )}
      <ErrorNote error={install.error} />
      {data.log && (
        <div style={{ width: '100%' }}>
          <CodeEditor label={t('packages.log')} language="text" value={data.log} height={18} isReadOnly />
        </div>
      )}
    </Stack>
  );
}
