import { Button, Group, NativeSelect, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { AnchorTo } from '../../ui/links.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import { useNumberedPages } from './numbered.ts';

type Delivery = Outputs['deliveries']['listAll'][number];

const STATES = ['pending', 'delivered', 'failed'] as const;
type State = (typeof STATES)[number];

/** Notifications that the server has sent or tries to send: to the webhooks of people, and to its own. */
export function AllDeliveries() {
  const { t } = useTranslation('admin');
  const [status, setStatus] = useState<State | ''>('');
  const input = status === '' ? {} : { status };
  const deliveries = useNumberedPages(trpc.deliveries.listAll.queryKey(input), (page) =>
    api.deliveries.listAll.query({ ...input, ...page }),
  );
  return (
    <Part
      title={t('deliveries.title')}
      hint={t('deliveries.hint')}
      actions={
        <>
          <NativeSelect
            size="xs"
            aria-label={t('state.state')}
            value={status}
            onChange={({ currentTarget: { value } }) => setStatus(value as State | '')}
            data={[
              { value: '', label: t('deliveries.all') },
              ...STATES.map((value) => ({ value, label: t(`deliveries.states.${value}`) })),
            ]}
          />
          <Button size="xs" variant="default" onClick={deliveries.reload}>
            {t('common:action.refresh')}
          </Button>
        </>
      }
    >
      <DataTable
        label={t('deliveries.title')}
        columns={useColumns()}
        keyOf={({ id }) => id}
        empty={
          <Text size="sm" c="dimmed">
            {t('deliveries.none')}
          </Text>
        }
        {...deliveries}
      />
    </Part>
  );
}

function useColumns(): Column<Delivery>[] {
  const { t } = useTranslation('admin');
  return [
    {
      key: 'to',
      label: t('deliveries.to'),
      render: ({ user, url }) => (
        <>
          {user ? (
            <AnchorTo to="/admin/people/$userId" params={{ userId: user.id }} size="sm">
              {user.name}
            </AnchorTo>
          ) : (
            <Text size="sm">{t('deliveries.installation')}</Text>
          )}
          <Text size="xs" c="dimmed">
            {url}
          </Text>
        </>
      ),
    },
    { key: 'state', label: t('state.state'), width: 130, render: ({ status }) => <Status status={status} /> },
    {
      key: 'answer',
      label: t('deliveries.answer'),
      isWide: true,
      width: '30%',
      render: ({ error, response_status, attempts }) => (
        <Text size="sm">
          {[t('deliveries.attempts', { count: attempts }), error ?? response_status]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      ),
    },
    {
      key: 'time',
      label: t('audit.time'),
      width: 165,
      isWide: true,
      render: ({ created_at }) => <Text size="sm">{dayAndTime(dateOfSeconds(created_at))}</Text>,
    },
    {
      key: 'again',
      label: t('deliveries.again'),
      hidesLabel: true,
      width: 110,
      render: (delivery) => <Again delivery={delivery} />,
    },
  ];
}

const LOOKS = {
  pending: { Icon: CircleDashed, color: 'gray' },
  delivered: { Icon: CircleCheck, color: 'green' },
  failed: { Icon: CircleAlert, color: 'red' },
} as const;

function Status({ status }: { status: State }) {
  const { t } = useTranslation('admin');
  const { Icon, color } = LOOKS[status];
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={16} color={`var(--mantine-color-${color}-filled)`} aria-hidden style={{ flex: 'none' }} />
      <Text size="sm">{t(`deliveries.states.${status}`)}</Text>
    </Group>
  );
}

/** Administrators repeat the deliveries of the installation; people repeat their own in their account. */
function Again({ delivery: { id, status, user } }: { delivery: Delivery }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const redeliver = useMutation(
    trpc.deliveries.redeliver.mutationOptions({
      onSettled: () => queryClient.invalidateQueries(trpc.deliveries.pathFilter()),
    }),
  );
  if (user !== null || status === 'pending') return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={redeliver.isPending}
      onClick={() => redeliver.mutate({ id })}
    >
      {t('deliveries.again')}
    </Button>
  );
}
