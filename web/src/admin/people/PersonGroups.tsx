import { Group, Pill, Select, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { Part } from '../../ui/Part.tsx';
import type { PersonDetail } from './person.ts';

/** The groups of the account. A group is left or joined at once. */
export function PersonGroups({ person: { id, groups } }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const { data: all } = useQuery(trpc.groups.list.queryOptions({}));
  const { add, remove } = useMembership(id);
  const others = (all ?? []).filter((group) => !groups.some((own) => own.id === group.id));
  return (
    <Part title={t('people.groups')} hint={t('person.groupsHint')}>
      <Group gap="xs" mih={26}>
        {groups.map((group) => (
          <Pill
            key={group.id}
            size="md"
            withRemoveButton
            removeButtonProps={{
              'aria-label': t('person.leave', { name: group.name }),
              'aria-hidden': false,
              tabIndex: 0,
            }}
            onRemove={() => remove.mutate({ id: group.id, user_ids: [id] })}
          >
            {group.name}
          </Pill>
        ))}
        {groups.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('person.noGroups')}
          </Text>
        )}
      </Group>
      <Select
        label={t('person.join')}
        maw={360}
        data={others.map((group) => ({ value: group.id, label: group.name }))}
        value={null}
        searchable
        disabled={others.length === 0 || add.isPending}
        nothingFoundMessage={t('explain.nothingFound')}
        onChange={(group) => group && add.mutate({ id: group, user_ids: [id] })}
      />
    </Part>
  );
}

function useMembership(userId: string) {
  const queryClient = useQueryClient();
  const onSuccess = () =>
    Promise.all([
      queryClient.invalidateQueries(trpc.users.pathFilter()),
      queryClient.invalidateQueries(trpc.groups.pathFilter()),
      queryClient.invalidateQueries(trpc.people.membersOf.pathFilter()),
      queryClient.invalidateQueries(trpc.preview.user.queryFilter({ id: userId })),
    ]);
  return {
    add: useMutation(trpc.groups.addMembers.mutationOptions({ onSuccess })),
    remove: useMutation(trpc.groups.removeMembers.mutationOptions({ onSuccess })),
  };
}
