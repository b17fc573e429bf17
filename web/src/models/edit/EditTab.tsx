import { Button, Group, Stack } from '@mantine/core';
import { isParleyError } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { fieldErrors } from '../../base/errors.ts';
import { notify } from '../../base/notify.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx';
import type { ModelRecord } from '../entries.ts';
import { formOf, inputOf, type ModelForm } from './form.ts';
import { ModelFields } from './ModelFields.tsx';
import { useModelForm } from './useModelForm.ts';
import { useRefresh } from './useRefresh.ts';

/** The form of a record. A newer version replaces the fields of a form that was not changed. */
export function EditTab({ record }: { record: ModelRecord }) {
  const [base, setBase] = useState(record);
  return <Form key={base.version_id} base={base} record={record} onBase={setBase} />;
}

interface Properties {
  /** The version that the form began with. */
  base: ModelRecord;
  /** The version that is stored now. */
  record: ModelRecord;
  onBase(base: ModelRecord): void;
}

function Form({ base, record, onBase }: Properties) {
  const { t } = useTranslation(['models', 'common']);
  const refresh = useRefresh();
  const form = useModelForm(formOf(base));
  const isDirty = form.isDirty();
  const update = useMutation({
    meta: { showsError: true },
    async mutationFn({ values, overwrites }: { values: ModelForm; overwrites: boolean }) {
      const { meta, version_id } = overwrites ? await api.models.get.query({ id: base.id }) : base;
      return api.models.update.mutate({ ...inputOf(values, meta), version_id });
    },
    async onSuccess(stored) {
      void notify({ message: t('saved') });
      await refresh(stored);
      onBase(stored);
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
  });
  useEffect(() => {
    if (!isDirty && base.version_id !== record.version_id) onBase(record);
  }, [isDirty, base, record, onBase]);
  const isConflict = isParleyError(update.error) && update.error.code === 'version_conflict';
  return (
    <form onSubmit={form.onSubmit((values) => update.mutate({ values, overwrites: false }))} noValidate>
      <Stack gap="md" maw={720}>
        <ModelFields form={form} isNew={false} isOfProvider={base.base_model_id === null} />
        <ErrorNote error={update.error} />
        <Group justify="flex-end" gap="xs">
          {isConflict && (
            <Button
              variant="default"
              onClick={() => update.mutate({ values: form.values, overwrites: true })}
            >
              {t('overwrite')}
            </Button>
          )}
          <Button type="submit" loading={update.isPending} disabled={!isDirty}>
            {t('common:action.save')}
          </Button>
        </Group>
      </Stack>
      <LeaveGuard isDirty={isDirty} />
    </form>
  );
}
