import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { DataTable } from '../../ui/list/DataTable.tsx';
import { Page } from '../../ui/Page.tsx';
import { CreatePerson } from './CreatePerson.tsx';
import { usePeopleColumns } from './columns.tsx';
import { PendingPeople } from './PendingPeople.tsx';
import { ROLES } from './RoleBadge.tsx';
import { type PeopleSearch, searchOf } from './search.ts';

const PAGE_ROWS = 50;

export function PeoplePage() {
  const { t } = useTranslation('admin');
  const [isCreating, { open, close }] = useDisclosure(false);
  const add = (
    <Button size="xs" leftSection={<UserPlus size={15} aria-hidden />} onClick={open}>
      {t('people.create')}
    </Button>
  );
  return (
    <Page title={t('section.people')} actions={add} wide>
      <Stack gap="lg">
        <PendingPeople />
        <PeopleList />
      </Stack>
      <CreatePerson opened={isCreating} onClose={close} />
    </Page>
  );
}

function PeopleList() {
  const { t } = useTranslation('admin');
  const search = useSearch({ from: '/shell/admin/people' });
  const navigate = useNavigate();
  const show = (next: PeopleSearch) => void navigate({ to: '/admin/people', search: next, replace: true });
  const { people, total } = usePeople(search);
  return (
    <Stack gap="sm">
      <Group gap="md">
        <SearchField value={search.q ?? ''} onChange={(q) => show(searchOf({ ...search, q }))} />
        <NativeSelect
          aria-label={t('people.role')}
          value={search.role ?? ''}
          data={[
            { value: '', label: t('people.allRoles') },
            ...ROLES.map((value) => ({ value, label: t(`role.${value}`) })),
          ]}
          onChange={({ currentTarget: { value } }) => show(searchOf({ ...search, role: value }))}
        />
        <Text size="sm" c="dimmed" role="status">
          {total !== undefined && t('people.count', { count: total })}
        </Text>
      </Group>
      <DataTable
        label={t('section.people')}
        columns={usePeopleColumns()}
        keyOf={({ id }) => id}
        sort={{ by: search.by ?? 'name', direction: search.direction ?? 'asc' }}
        onSort={({ by, direction }) => show(searchOf({ ...search, by, direction }))}
        empty={<Empty title={t('people.none')}>{t('people.noneHint')}</Empty>}
        {...people}
      />
    </Stack>
  );
}

function usePeople({ q, by, direction, role }: PeopleSearch) {
  const filter = { ...(q && { query: q }), ...(role && { role }) };
  const input = {
    ...filter,
    order_by: by ?? 'name',
    ...(direction && { direction }),
    limit: PAGE_ROWS,
  };
  const people = usePages({
    queryKey: trpc.users.list.queryKey(input),
    load: (cursor) => api.users.list.query({ ...input, ...(cursor && { cursor }) }),
    rowsOf: ({ users }) => users,
    nextOf: ({ next_cursor }) => next_cursor,
  });
  // Only a numbered page has the sum.
  const { data } = useQuery(trpc.users.list.queryOptions({ ...filter, limit: 1 }));
  return { people, total: data?.total };
}

const TYPING_MS = 200;

function SearchField({ value, onChange }: { value: string; onChange(value: string): void }) {
  const { t } = useTranslation('admin');
  const [typed, setTyped] = useState(value);
  const change = useDebouncedCallback(onChange, TYPING_MS);
  return (
    <TextInput
      type="search"
      w={280}
      aria-label={t('people.search')}
      placeholder={t('people.searchHint')}
      leftSection={<Search size={15} aria-hidden />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        change(currentTarget.value.trim());
      }}
    />
  );
}
