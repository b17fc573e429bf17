import { Badge, Group, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import type { Column } from '../../ui/list/DataTable.tsx';
import { PersonCell } from './PersonCell.tsx';
import { RoleBadge } from './RoleBadge.tsx';
import { SignInMethods } from './SignInMethods.tsx';

export type Listed = Outputs['users']['list']['users'][number];

const SHOWN_GROUPS = 3;

export function usePeopleColumns(): Column<Listed>[] {
  const { t } = useTranslation('admin');
  return [
    {
      key: 'person',
      label: t('people.name'),
      sort: { by: 'name', direction: 'asc' },
      render: (person) => <PersonCell person={person} />,
    },
    {
      key: 'role',
      label: t('people.role'),
      width: 130,
      sort: { by: 'role', direction: 'asc' },
      render: ({ role }) => <RoleBadge role={role} />,
    },
    {
      key: 'groups',
      label: t('people.groups'),
      width: '24%',
      isWide: true,
      render: ({ group_ids }) => <GroupNames ids={group_ids} />,
    },
    {
      key: 'signIn',
      label: t('people.signIn'),
      width: 110,
      isWide: true,
      render: ({ sign_in }) => <SignInMethods methods={sign_in} />,
    },
    {
      key: 'active',
      label: t('people.lastActive'),
      width: 155,
      isWide: true,
      sort: { by: 'last_active_at', direction: 'desc' },
      render: ({ last_active_at }) => <Text size="sm">{dayAndTime(dateOfSeconds(last_active_at))}</Text>,
    },
  ];
}

function GroupNames({ ids }: { ids: string[] }) {
  const { data: groups } = useQuery(trpc.groups.list.queryOptions({}));
  const names = (groups ?? []).filter(({ id }) => ids.includes(id)).map(({ name }) => name);
  const rest = names.slice(SHOWN_GROUPS);
  return (
    <Group gap={4}>
      {names.slice(0, SHOWN_GROUPS).map((name) => (
        <Badge key={name} variant="default" tt="none" fw={500}>
          {name}
        </Badge>
      ))}
      {rest.length > 0 && (
        <Text size="xs" c="dimmed" title={rest.join(', ')}>
          +{rest.length}
        </Text>
      )}
    </Group>
  );
}
