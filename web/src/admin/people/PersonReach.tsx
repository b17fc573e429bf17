import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Part } from '../../ui/Part.tsx';
import { Reach } from '../Reach.tsx';
import type { PersonDetail } from './person.ts';

export function PersonReach({ person: { id } }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const { data, error, refetch } = useQuery(trpc.preview.user.queryOptions({ id }));
  return (
    <Part title={t('person.reach')} hint={t('person.reachHint')}>
      <ErrorNote error={error} onRetry={refetch} />
      {data && <Reach tools={data.tools} models={data.models} />}
      {!data && !error && <Skeleton height={80} />}
    </Part>
  );
}
