import { Group as Row, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Search, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { trpc } from '../../api/query.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { PrincipalPicker } from '../../ui/grants/PrincipalPicker.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import { PersonCell } from '../people/PersonCell.tsx';
import type { Group } from './group.ts';

type Member = Outputs['people']['membersOf']['items'][number];

const PAGE_ROWS = 30;

export function GroupMembers({ group }: { group: Group }) {
  const { t } = useTranslation('admin');
  const [query, setQuery] = useState('');
  const [wanted] = useDebouncedValue(query.trim(), 200);
  const members = useMembers(group.id, wanted);
  const { add, remove } = useChanges();
  const columns: Column<Member>[] = [
    { key: 'person', label: t('people.name'), render: (member) => <PersonCell person={member} /> },
    {
      key: 'role',
      label: t('people.role'),
      render: ({ role }) => t(`role.${role}`),
      width: 140,
      isWide: true,
    },
    {
      key: 'remove',
      label: t('groups.remove'),
      hidesLabel: true,
      width: 48,
      render: ({ id, name }) => (
        <ConfirmButton
          label={t('groups.removeMember', { name })}
          icon={<X size={16} aria-hidden />}
          title={t('groups.removeMember', { name })}
          confirm={t('groups.remove')}
          onConfirm={() => remove.mutateAsync({ id: group.id, user_ids: [id] })}
        >
          <Text size="sm">{t('groups.removeHint')}</Text>
        </ConfirmButton>
      ),
    },
  ];
  return (
    <Part title={t('groups.memberCount', { count: group.member_count })} hint={t('groups.membersHint')}>
      <PrincipalPicker
        label={t('groups.addMember')}
        placeholder={t('people.searchHint')}
        kinds={['user']}
        without={members.rows?.map(({ id }) => id) ?? []}
        disabled={add.isPending}
        onPick={({ id }) => add.mutate({ id: group.id, user_ids: [id] })}
      />
      {group.member_count > PAGE_ROWS && (
        <Row>
          <TextInput
            size="xs"
            aria-label={t('groups.searchMembers')}
            placeholder={t('groups.searchMembers')}
            leftSection={<Search size={15} aria-hidden />}
            value={query}
            onChange={({ currentTarget: { value } }) => setQuery(value)}
          />
        </Row>
      )}
      <DataTable
        label={t('groups.members')}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Text size="sm" c="dimmed">
            {t('groups.noMembers')}
          </Text>
        }
        {...members}
      />
    </Part>
  );
}

/** The members by pages, which this list has by number. */
function useMembers(id: string, query: string) {
  const input = { id, ...(query && { query }) };
  return usePages({
    queryKey: trpc.people.membersOf.queryKey(input),
    async load(cursor = '1') {
      const page = Number(cursor);
      const answer = await api.people.membersOf.query({ ...input, page });
      return { ...answer, next: page * PAGE_ROWS < answer.total ? String(page + 1) : null };
    },
    rowsOf: ({ items }) => items,
    nextOf: ({ next }) => next,
  });
}

function useChanges() {
  const queryClient = useQueryClient();
  const onSuccess = (group: Group) => {
    queryClient.setQueryData(trpc.groups.get.queryKey({ id: group.id }), group);
    return Promise.all([
      queryClient.invalidateQueries(trpc.people.membersOf.pathFilter()),
      queryClient.invalidateQueries(trpc.groups.list.pathFilter()),
      queryClient.invalidateQueries(trpc.users.pathFilter()),
    ]);
  };
  return {
    add: useMutation(trpc.groups.addMembers.mutationOptions({ onSuccess })),
    remove: useMutation(trpc.groups.removeMembers.mutationOptions({ onSuccess })),
  };
}
