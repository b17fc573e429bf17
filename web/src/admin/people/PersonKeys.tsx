import { Code, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import type { PersonDetail } from './person.ts';

type Key = Outputs['apiKeys']['listOf'][number];

export function PersonKeys({ person: { id } }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const { data: keys, error, refetch } = useQuery(trpc.apiKeys.listOf.queryOptions({ id }));
  const revoke = useMutation(
    trpc.apiKeys.deleteOf.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.apiKeys.listOf.queryFilter({ id })),
    }),
  );
  return (
    <Part title={t('person.keys')} hint={t('person.keysHint')}>
      <DataTable
        label={t('person.keys')}
        columns={useColumns((key_id) => revoke.mutateAsync({ id, key_id }))}
        rows={keys}
        keyOf={(key) => key.id}
        error={error}
        reload={() => void refetch()}
        empty={
          <Text size="sm" c="dimmed">
            {t('person.noKeys')}
          </Text>
        }
      />
    </Part>
  );
}

function useColumns(revoke: (id: string) => Promise<unknown>): Column<Key>[] {
  const { t } = useTranslation('admin');
  const time = (seconds: number | null) =>
    seconds === null ? t('person.never') : dayAndTime(dateOfSeconds(seconds));
  return [
    {
      key: 'name',
      label: t('person.keyName'),
      render: ({ name, masked, allowed_endpoints }) => (
        <>
          <Text size="sm">
            {name} <Code>{masked}</Code>
          </Text>
          {allowed_endpoints && (
            <Text size="xs" c="dimmed">
              {t('person.keyPaths', { paths: allowed_endpoints.join(', ') })}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'used',
      label: t('person.keyUsed'),
      render: ({ last_used_at }) => <Text size="sm">{time(last_used_at)}</Text>,
    },
    {
      key: 'expires',
      label: t('person.keyExpires'),
      isWide: true,
      render: ({ expires_at }) => <Text size="sm">{time(expires_at)}</Text>,
    },
    {
      key: 'revoke',
      label: t('person.revoke'),
      hidesLabel: true,
      width: 48,
      render: ({ id, name }) => (
        <ConfirmButton
          label={t('person.revokeName', { name })}
          icon={<Trash2 size={16} aria-hidden />}
          title={t('person.revokeName', { name })}
          confirm={t('person.revoke')}
          onConfirm={() => revoke(id)}
        >
          <Text size="sm">{t('person.revokeHint')}</Text>
        </ConfirmButton>
      ),
    },
  ];
}
