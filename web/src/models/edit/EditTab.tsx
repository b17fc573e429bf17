import { Button, Group, Stack } from '@mantine/core';
import { isParleyError } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { fieldErrors } from '../../base/errors.ts';
import { notify } from '../../base/notify.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import type { ModelRecord } from '../entries.ts';
import { formOf, inputOf, type ModelForm } from './form.ts';
import { ModelFields } from './ModelFields.tsx';
import { useModelForm } from './useModelForm.ts';
import { useRefresh } from './useRefresh.ts';

/** A form that begins anew when another version is stored. */
export const EditTab = ({ record }: { record: ModelRecord }) => (
  <Form key={record.version_id} record={record} />
);

function Form({ record }: { record: ModelRecord }) {
  const { t } = useTranslation(['models', 'common']);
  const refresh = useRefresh();
  const form = useModelForm(formOf(record));
  const update = useMutation(
    trpc.models.update.mutationOptions({
      meta: { showsError: true },
      async onSuccess(stored) {
        void notify({ message: t('saved') });
        await refresh(stored);
      },
      onError: (error) => form.setErrors(fieldErrors(error)),
    }),
  );
  const save = (values: ModelForm, version_id: string | null) =>
    update.mutate({ ...inputOf(values, record.meta), version_id });
  const isConflict = isParleyError(update.error) && update.error.code === 'version_conflict';
  return (
    <form onSubmit={form.onSubmit((values) => save(values, record.version_id))} noValidate>
      <Stack gap="md" maw={720}>
        <ModelFields form={form} isNew={false} isOfProvider={record.base_model_id === null} />
        <ErrorNote error={update.error} />
        <Group justify="flex-end" gap="xs">
          {isConflict && (
            <Button variant="default" onClick={() => save(form.values, null)}>
              {t('overwrite')}
            </Button>
          )}
          <Button type="submit" loading={update.isPending} disabled={!form.isDirty()}>
            {t('common:action.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
