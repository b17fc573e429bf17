import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { FormButtons } from '../../ui/form/FormButtons.tsx';
import { PeoplePicker } from '../../ui/grants/PeoplePicker.tsx';
import type { Picked } from '../../ui/grants/PrincipalPicker.tsx';
import { NameFields } from '../NameFields.tsx';
import { type FormProperties, useNewChannel } from './useNewChannel.ts';

/** The ids of the chosen people and groups, as the API takes them. */
export const invited = (people: Picked[]) => ({
  user_ids: people.filter(({ type }) => type === 'user').map(({ id }) => id),
  group_ids: people.filter(({ type }) => type === 'group').map(({ id }) => id),
});

/** A channel that its members alone read; the person becomes its manager. */
export function NewGroup({ onDone, onCancel }: FormProperties) {
  const { t } = useTranslation('channels');
  const me = useMe();
  const { create, error, isBusy } = useNewChannel(onDone);
  const form = useForm({
    initialValues: { name: '', description: '', people: [] as Picked[] },
    validate: { name: (name) => (name.trim() ? null : t('form.nameMissing')) },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ people, ...rest }) =>
        create({ ...rest, type: 'group', ...invited(people) }),
      )}
      noValidate
    >
      <Stack gap="md">
        <NameFields field={form.getInputProps} />
        <PeoplePicker
          label={t('form.members')}
          description={t('form.membersHint')}
          withGroups
          without={[me.id]}
          value={form.values.people}
          onChange={(people) => form.setFieldValue('people', people)}
        />
        <ErrorNote error={error} />
        <FormButtons submit={t('form.create')} isBusy={isBusy} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
