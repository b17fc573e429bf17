import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { PeoplePicker } from '../../ui/grants/PeoplePicker.tsx';
import type { Picked } from '../../ui/grants/PrincipalPicker.tsx';
import { invited } from '../create/NewGroup.tsx';

export function AddMembers({ channelId }: { channelId: string }) {
  const { t } = useTranslation('channels');
  const queryClient = useQueryClient();
  const [people, setPeople] = useState<Picked[]>([]);
  const add = useMutation(
    trpc.members.add.mutationOptions({
      meta: { showsError: true },
      onSuccess: () => {
        setPeople([]);
        return queryClient.invalidateQueries(trpc.members.list.pathFilter());
      },
    }),
  );
  return (
    <Stack gap="xs" align="stretch">
      <PeoplePicker label={t('members.add')} withGroups value={people} onChange={setPeople} />
      <ErrorNote error={add.error} />
      {people.length > 0 && (
        <Button
          size="xs"
          loading={add.isPending}
          onClick={() => add.mutate({ id: channelId, ...invited(people) })}
        >
          {t('members.addChosen', { count: people.length })}
        </Button>
      )}
    </Stack>
  );
}
