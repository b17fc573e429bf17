import { Stack } from '@mantine/core';
import type { Channel } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { FormButtons } from '../../ui/form/FormButtons.tsx';
import { useStoredForm } from '../../ui/form/useStoredForm.ts';
import { GrantsEditor } from '../../ui/grants/GrantsEditor.tsx';
import { grantInputs } from '../../ui/grants/grants.ts';
import { NameFields } from '../NameFields.tsx';

interface Properties {
  channel: Channel;
  onDone(): void;
}

/** Name, description and, where it has no members of its own, the rights of a channel. */
export function EditChannel({ channel, onDone }: Properties) {
  const { t } = useTranslation(['channels', 'common']);
  const queryClient = useQueryClient();
  const isBoard = channel.type !== 'group';
  const update = useMutation(
    trpc.channels.update.mutationOptions({
      meta: { showsError: true },
      onSuccess(changed) {
        queryClient.setQueryData(trpc.channels.get.queryKey({ id: changed.id }), changed);
        void queryClient.invalidateQueries(trpc.channels.list.pathFilter());
        onDone();
      },
    }),
  );
  const { form, changesIn } = useStoredForm(
    {
      name: channel.name,
      description: channel.description ?? '',
      access_grants: grantInputs(channel.access_grants),
    },
    { validate: { name: (name) => (name.trim() ? null : t('form.nameMissing')) } },
  );
  const save = form.onSubmit((values) => update.mutate({ id: channel.id, ...changesIn(values) }));
  return (
    <form onSubmit={save} noValidate>
      <Stack gap="md">
        <NameFields field={form.getInputProps} />
        {isBoard && (
          <GrantsEditor
            resource="channel"
            value={form.values.access_grants}
            onChange={(grants) => form.setFieldValue('access_grants', grants)}
          />
        )}
        <ErrorNote error={update.error} />
        <FormButtons submit={t('common:action.save')} isBusy={update.isPending} onCancel={onDone} />
      </Stack>
    </form>
  );
}
