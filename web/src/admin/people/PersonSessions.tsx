import { Badge, Group, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { describeAgent } from '../../base/agent.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import type { PersonDetail } from './person.ts';

type Session = Outputs['sessions']['listOf'][number];

export function PersonSessions({ person: { id, name } }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const { data: sessions, error, refetch } = useQuery(trpc.sessions.listOf.queryOptions({ id }));
  const onSuccess = () => queryClient.invalidateQueries(trpc.sessions.listOf.queryFilter({ id }));
  const end = useMutation(trpc.sessions.endOf.mutationOptions({ onSuccess }));
  const endAll = useMutation(trpc.sessions.endAllOf.mutationOptions({ onSuccess }));
  return (
    <Part
      title={t('person.sessions')}
      hint={t('person.sessionsHint')}
      actions={
        <ConfirmButton
          label={t('person.endAll')}
          size="xs"
          disabled={!sessions?.length}
          title={t('person.endAllTitle', { name })}
          confirm={t('person.endAll')}
          onConfirm={() => endAll.mutateAsync({ id })}
        >
          <Text size="sm">{t('person.endAllHint')}</Text>
        </ConfirmButton>
      }
    >
      <DataTable
        label={t('person.sessions')}
        columns={useColumns((session_id) => end.mutateAsync({ id, session_id }))}
        rows={sessions}
        keyOf={(session) => session.id}
        error={error}
        reload={() => void refetch()}
        empty={
          <Text size="sm" c="dimmed">
            {t('person.noSessions')}
          </Text>
        }
      />
    </Part>
  );
}

function useColumns(end: (id: string) => Promise<unknown>): Column<Session>[] {
  const { t } = useTranslation('admin');
  return [
    {
      key: 'agent',
      label: t('person.program'),
      render: ({ user_agent, is_current }) => (
        <Group gap="xs">
          <Text size="sm" title={user_agent}>
            {describeAgent(user_agent) || t('person.unknownProgram')}
          </Text>
          {is_current && (
            <Badge variant="light" tt="none" fw={500}>
              {t('person.thisSession')}
            </Badge>
          )}
        </Group>
      ),
    },
    { key: 'ip', label: t('person.address'), isWide: true, render: ({ ip }) => <Text size="sm">{ip}</Text> },
    {
      key: 'seen',
      label: t('person.seen'),
      render: ({ last_seen_at }) => <Text size="sm">{dayAndTime(dateOfSeconds(last_seen_at))}</Text>,
    },
    {
      key: 'end',
      label: t('person.end'),
      hidesLabel: true,
      width: 48,
      render: ({ id, user_agent }) => (
        <ConfirmButton
          label={t('person.endOne', { program: describeAgent(user_agent) })}
          icon={<LogOut size={16} aria-hidden />}
          title={t('person.endOne', { program: describeAgent(user_agent) })}
          confirm={t('person.end')}
          onConfirm={() => end(id)}
        >
          <Text size="sm">{t('person.endHint')}</Text>
        </ConfirmButton>
      ),
    },
  ];
}
