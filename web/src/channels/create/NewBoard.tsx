import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { FormButtons } from '../../ui/form/FormButtons.tsx';
import { GrantsEditor } from '../../ui/grants/GrantsEditor.tsx';
import { EVERYONE, type GrantInput, grantsOf } from '../../ui/grants/grants.ts';
import { NameFields } from '../NameFields.tsx';
import { type FormProperties, useNewChannel } from './useNewChannel.ts';

const OPEN_TO_ALL = grantsOf([{ ...EVERYONE, right: 'write' }]);

/** A channel whose rights are given to everyone, groups and people. */
export function NewBoard({ onDone, onCancel }: FormProperties) {
  const { t } = useTranslation('channels');
  const { create, error, isBusy } = useNewChannel(onDone);
  const form = useForm({
    initialValues: { name: '', description: '', access_grants: OPEN_TO_ALL as GrantInput[] },
    validate: { name: (name) => (name.trim() ? null : t('form.nameMissing')) },
  });
  return (
    <form onSubmit={form.onSubmit(create)} noValidate>
      <Stack gap="md">
        <NameFields field={form.getInputProps} />
        <GrantsEditor
          resource="channel"
          value={form.values.access_grants}
          onChange={(grants) => form.setFieldValue('access_grants', grants)}
        />
        <ErrorNote error={error} />
        <FormButtons submit={t('form.create')} isBusy={isBusy} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
