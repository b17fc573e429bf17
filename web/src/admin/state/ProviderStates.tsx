import { Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { AnchorTo } from '../../ui/links.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import { StateBadge } from './StateBadge.tsx';

type Provider = Outputs['providers']['list'][number];

const ASK_MS = 10_000;

export function ProviderStates() {
  const { t } = useTranslation('admin');
  const { data, error, refetch } = useQuery(
    trpc.providers.list.queryOptions({}, { refetchInterval: ASK_MS, staleTime: 0 }),
  );
  const columns: Column<Provider>[] = [
    {
      key: 'name',
      label: t('state.connection'),
      render: ({ name, detail }) => (
        <>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {detail}
          </Text>
        </>
      ),
    },
    {
      key: 'state',
      label: t('state.state'),
      width: 144,
      render: ({ state }) => <StateBadge state={state} />,
    },
    {
      key: 'detail',
      label: t('state.detail'),
      width: '40%',
      isWide: true,
      render: ({ detail }) => <Text size="sm">{detail}</Text>,
    },
    { key: 'models', label: t('state.models'), width: 90, isWide: true, render: ({ models }) => models },
    {
      key: 'load',
      label: t('state.load'),
      width: 150,
      isWide: true,
      render: ({ running, waiting }) => <Text size="sm">{t('state.calls', { running, waiting })}</Text>,
    },
  ];
  return (
    <Part
      title={t('state.providers')}
      actions={
        <AnchorTo to="/admin/connections" size="sm">
          {t('state.toConnections')}
        </AnchorTo>
      }
    >
      <DataTable
        label={t('state.providers')}
        columns={columns}
        rows={data}
        keyOf={({ name, url }) => `${name} ${url}`}
        error={error}
        reload={() => void refetch()}
        empty={
          <Text size="sm" c="dimmed">
            {t('state.noProviders')}
          </Text>
        }
      />
    </Part>
  );
}
