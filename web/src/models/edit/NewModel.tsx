import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { fieldErrors } from '../../base/errors.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx';
import { ButtonTo } from '../../ui/links.tsx';
import { Page } from '../../ui/Page.tsx';
import { formOf, inputOf } from './form.ts';
import { ModelFields } from './ModelFields.tsx';
import { useModelForm } from './useModelForm.ts';
import { useRefresh } from './useRefresh.ts';

/** A model over another one; with `id`, the record of a provider's model. */
export function NewModel() {
  const { t } = useTranslation(['models', 'common']);
  const { id = '', base } = useSearch({ from: '/shell/models/new' });
  const { data, isPending } = useQuery(trpc.models.list.queryOptions({}));
  const name = data?.data.find((model) => model.id === id)?.name ?? id;
  const isOfProvider = id !== '';
  return (
    <Page title={isOfProvider ? t('create.ofProvider', { name }) : t('create.title')}>
      {!isPending && <Form id={id} name={name} base={base ?? null} />}
    </Page>
  );
}

function Form({ id, name, base }: { id: string; name: string; base: string | null }) {
  const { t } = useTranslation(['models', 'common']);
  const navigate = useNavigate();
  const refresh = useRefresh();
  const isOfProvider = id !== '';
  const form = useModelForm(formOf({ id, name, base_model_id: base, meta: {}, params: {}, is_active: true }));
  const create = useMutation(
    trpc.models.create.mutationOptions({
      meta: { showsError: true },
      async onSuccess(record) {
        await refresh(record);
        await navigate({
          to: '/models/$modelId',
          params: { modelId: record.id },
          search: { tab: 'access' },
          ignoreBlocker: true,
        });
      },
      onError: (error) => form.setErrors(fieldErrors(error)),
    }),
  );
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(inputOf(values)))} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t(isOfProvider ? 'create.ofProviderHint' : 'create.hint')}
        </Text>
        <ModelFields form={form} isNew isOfProvider={isOfProvider} />
        <ErrorNote error={create.error} />
        <Group justify="flex-end" gap="xs">
          <ButtonTo to="/models" variant="default">
            {t('common:action.cancel')}
          </ButtonTo>
          <Button type="submit" loading={create.isPending}>
            {t('create.submit')}
          </Button>
        </Group>
      </Stack>
      <LeaveGuard isDirty={form.isDirty()} />
    </form>
  );
}
