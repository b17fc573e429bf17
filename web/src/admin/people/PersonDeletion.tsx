import { List, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { Part } from '../../ui/Part.tsx';
import type { PersonDetail } from './person.ts';

/** What the server does with the data: docs/decisions/deleted-accounts.md. */
const CONSEQUENCES = ['messages', 'shared', 'files', 'private', 'webhooks', 'address'] as const;

export function PersonDeletion({ person: { id, name, email } }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation(
    trpc.users.delete.mutationOptions({
      async onSuccess() {
        await navigate({ to: '/admin/people' });
        queryClient.removeQueries(trpc.users.get.queryFilter({ id }));
        await queryClient.invalidateQueries(trpc.users.list.pathFilter());
        await queryClient.invalidateQueries(trpc.groups.pathFilter());
      },
    }),
  );
  return (
    <Part title={t('person.delete')} hint={t('person.deleteHint')}>
      <div>
        <ConfirmButton
          label={t('person.delete')}
          color="red"
          variant="light"
          size="xs"
          title={t('person.deleteTitle', { name })}
          confirm={t('person.delete')}
          typedName={email}
          onConfirm={() => remove.mutateAsync({ id })}
        >
          <Stack gap="xs">
            <Text size="sm">{t('person.deleteWhat')}</Text>
            <List size="sm">
              {CONSEQUENCES.map((what) => (
                <List.Item key={what}>{t(`person.deletes.${what}`)}</List.Item>
              ))}
            </List>
          </Stack>
        </ConfirmButton>
      </div>
    </Part>
  );
}
