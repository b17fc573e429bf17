import { Box, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../../api/query.ts';
import { ErrorNote } from '../../../ui/ErrorNote.tsx';
import { Differences } from './Differences.tsx';

interface Properties {
  /** An entry of the history. */
  from: string;
  /** Another one; the configuration in force unless given. */
  to?: string;
  /** Only this setting. */
  path?: string | undefined;
  /** True where the first entry is what will be in force. */
  isBackwards?: boolean;
}

/** In which values two entries of the history differ. */
export function Comparison({ from, to, path, isBackwards = false }: Properties) {
  const { t } = useTranslation('config');
  const { data, error } = useQuery(
    trpc.configs.compare.queryOptions({ from_id: from, ...(to && { to_id: to }) }, { staleTime: 0 }),
  );
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={60} mt="xs" />;
  const items = data.changes
    .filter((one) => !path || one.path === path || one.path.startsWith(`${path}.`))
    .map((one) => (isBackwards ? { ...one, before: one.after, after: one.before } : one));
  return (
    <Box mt="xs">
      <Differences items={items} empty={t('history.same')} />
    </Box>
  );
}
