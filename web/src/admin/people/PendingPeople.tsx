import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import type { Listed } from './columns.tsx';
import { PersonCell } from './PersonCell.tsx';

const MOST = 100;
/** No event tells of a sign-up. */
const ASK_MS = 30_000;

/** Accounts that wait for approval; nothing while there is none. */
export function PendingPeople() {
  const { t } = useTranslation('admin');
  const { data } = useQuery(
    trpc.users.list.queryOptions({ role: 'pending', limit: MOST }, { refetchInterval: ASK_MS, staleTime: 0 }),
  );
  const columns: Column<Listed>[] = [
    { key: 'person', label: t('people.name'), render: (person) => <PersonCell person={person} /> },
    {
      key: 'created',
      label: t('people.signedUp'),
      width: 170,
      isWide: true,
      render: ({ created_at }) => <Text size="sm">{dayAndTime(dateOfSeconds(created_at))}</Text>,
    },
    {
      key: 'actions',
      label: t('people.decide'),
      hidesLabel: true,
      width: 216,
      render: (person) => <Decision person={person} />,
    },
  ];
  if (!data || data.users.length === 0) return null;
  return (
    <Part title={t('people.pending', { count: data.total ?? data.users.length })}>
      <DataTable
        label={t('people.pendingLabel')}
        columns={columns}
        rows={data.users}
        keyOf={({ id }) => id}
        empty={null}
      />
    </Part>
  );
}

function Decision({ person: { id, name, email } }: { person: Listed }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const onSuccess = () => queryClient.invalidateQueries(trpc.users.pathFilter());
  const approve = useMutation(trpc.users.update.mutationOptions({ onSuccess }));
  const refuse = useMutation(trpc.users.delete.mutationOptions({ onSuccess }));
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        loading={approve.isPending}
        aria-label={t('people.approveName', { name })}
        onClick={() => approve.mutate({ id, role: 'user' })}
      >
        {t('people.approve')}
      </Button>
      <ConfirmButton
        label={t('people.refuse')}
        size="compact-sm"
        aria-label={t('people.refuseName', { name })}
        title={t('people.refuseName', { name })}
        confirm={t('people.refuse')}
        onConfirm={() => refuse.mutateAsync({ id })}
      >
        <Stack gap={4}>
          <Text size="sm">{t('people.refuseHint', { email })}</Text>
        </Stack>
      </ConfirmButton>
    </Group>
  );
}
