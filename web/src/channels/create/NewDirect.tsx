import { Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { FormButtons } from '../../ui/form/FormButtons.tsx';
import { PeoplePicker } from '../../ui/grants/PeoplePicker.tsx';
import type { Picked } from '../../ui/grants/PrincipalPicker.tsx';
import { type FormProperties, useNewChannel } from './useNewChannel.ts';

/** A conversation with one person or several. An existing one with the same people opens again. */
export function NewDirect({ onDone, onCancel }: FormProperties) {
  const { t } = useTranslation('channels');
  const { create, error, isBusy } = useNewChannel(onDone);
  const [people, setPeople] = useState<Picked[]>([]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create({ type: 'dm', user_ids: people.map(({ id }) => id) });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md" mih={180} justify="space-between">
        <PeoplePicker
          label={t('form.with')}
          placeholder={t('form.withPlaceholder')}
          autoFocus
          value={people}
          onChange={setPeople}
        />
        <ErrorNote error={error} />
        <FormButtons
          submit={t('form.open')}
          isBusy={isBusy}
          disabled={people.length === 0}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  );
}
