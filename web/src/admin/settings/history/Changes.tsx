import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../../base/time.ts';
import { ConfirmButton } from '../../../ui/ConfirmButton.tsx';
import { Empty } from '../../../ui/Empty.tsx';
import { ErrorNote } from '../../../ui/ErrorNote.tsx';
import classes from '../settings.module.css';
import { invalidate } from '../useDrafts.ts';
import { Comparison } from './Comparison.tsx';

type Change = Outputs['configs']['history'][number];

/** The server keeps this many. */
const MOST = 100;

interface Properties {
  /** Only the changes of this setting. */
  path?: string;
}

/** Changes with author and time, newest first: compare with the one before or the one in force, and roll back. */
export function Changes({ path }: Properties) {
  const { t } = useTranslation('config');
  const { data: changes, error } = useQuery(
    trpc.configs.history.queryOptions({ limit: MOST, ...(path && { path }) }, { staleTime: 0 }),
  );
  const { data: all = [] } = useQuery(trpc.configs.history.queryOptions({ limit: MOST }, { staleTime: 0 }));
  if (error) return <ErrorNote error={error} />;
  if (!changes) return <Skeleton height={240} />;
  if (changes.length === 0) return <Empty title={t('history.empty')}>{t('history.emptyHint')}</Empty>;
  return (
    <ul className={classes.rows} aria-label={t('history.title')}>
      {changes.map((change) => {
        const before = all[all.findIndex(({ id }) => id === change.id) + 1];
        return <Row key={change.id} change={change} before={before} path={path} />;
      })}
    </ul>
  );
}

interface RowProperties {
  change: Change;
  /** The entry before it; the oldest one has none. */
  before: Change | undefined;
  path: string | undefined;
}

function Row({ change, before, path }: RowProperties) {
  const { t } = useTranslation('config');
  const [shown, setShown] = useState<'before' | 'now' | null>(null);
  const time = dayAndTime(dateOfSeconds(change.created_at));
  const toggle = (kind: 'before' | 'now') => setShown(shown === kind ? null : kind);
  return (
    <li className={classes.change}>
      <Group justify="space-between" gap="xs" align="start">
        <About change={change} time={time} path={path} />
        <Group gap={6}>
          {before && (
            <Compare isOpen={shown === 'before'} onClick={() => toggle('before')} time={time}>
              {t('history.compareBefore')}
            </Compare>
          )}
          {!change.is_current && (
            <>
              <Compare isOpen={shown === 'now'} onClick={() => toggle('now')} time={time}>
                {t('history.compareNow')}
              </Compare>
              <RollBack id={change.id} time={time} />
            </>
          )}
        </Group>
      </Group>
      {shown === 'before' && before && <Comparison from={before.id} to={change.id} path={path} />}
      {shown === 'now' && <Comparison from={change.id} path={path} />}
    </li>
  );
}

function About({ change, time, path }: { change: Change; time: string; path: string | undefined }) {
  const { t } = useTranslation('config');
  const { created_by: by, changed } = change;
  const [first, ...others] = path ? [] : changed;
  return (
    <Stack gap={2} miw={0} flex="1 1 280px">
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {time}
        </Text>
        <Text size="sm">{by ? (by.name ?? t('history.deleted')) : t('history.byServer')}</Text>
        <Text size="sm" c="dimmed">
          {t(`history.origin.${change.origin}`)}
        </Text>
        {change.is_current && (
          <Badge variant="light" tt="none">
            {t('history.current')}
          </Badge>
        )}
      </Group>
      {first && (
        <Text size="xs" c="dimmed" ff="monospace" className={classes.path}>
          {[first, ...others.slice(0, 2)].join(', ')}
          {others.length > 2 && ` ${t('history.more', { count: others.length - 2 })}`}
        </Text>
      )}
    </Stack>
  );
}

interface CompareProperties {
  isOpen: boolean;
  onClick(): void;
  time: string;
  children: string;
}

const Compare = ({ isOpen, onClick, time, children }: CompareProperties) => (
  <Button
    size="compact-xs"
    variant={isOpen ? 'light' : 'default'}
    aria-expanded={isOpen}
    aria-label={`${children} (${time})`}
    onClick={onClick}
  >
    {children}
  </Button>
);

function RollBack({ id, time }: { id: string; time: string }) {
  const { t } = useTranslation('config');
  const queryClient = useQueryClient();
  const rollBack = useMutation(
    trpc.configs.rollback.mutationOptions({ onSuccess: () => invalidate(queryClient) }),
  );
  return (
    <ConfirmButton
      size="compact-xs"
      label={t('history.rollBack')}
      aria-label={t('history.rollBackTo', { time })}
      title={t('history.rollBackTo', { time })}
      confirm={t('history.rollBack')}
      onConfirm={() => rollBack.mutateAsync({ id })}
    >
      <Stack gap="xs">
        <Text size="sm">{t('history.rollBackHint')}</Text>
        <Comparison from={id} isBackwards />
      </Stack>
    </ConfirmButton>
  );
}
