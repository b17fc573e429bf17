import { Select, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { fieldErrors } from '../base/errors.ts';
import { Form } from '../ui/form/Form.tsx';

const DAY_SECONDS = 86_400;
/** For how many days a key lives; 0: for ever. */
const DAYS = [30, 90, 365, 0];

export function NewKey({ onMade }: { onMade(key: string): void }) {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { name: '', days: '90', allowed_endpoints: [] as string[] } });
  const create = useMutation(
    trpc.apiKeys.create.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      onSuccess({ api_key }) {
        onMade(api_key);
        return queryClient.invalidateQueries(trpc.apiKeys.list.queryFilter());
      },
    }),
  );
  const submit = form.onSubmit(({ name, days, allowed_endpoints }) =>
    create.mutate({
      name,
      expires_at: days === '0' ? null : Math.floor(Date.now() / 1000) + Number(days) * DAY_SECONDS,
      allowed_endpoints: allowed_endpoints.length > 0 ? allowed_endpoints : null,
    }),
  );
  return (
    <Form onSubmit={submit} call={create} submit={t('keys.make')} button="wide">
      <TextInput
        label={t('keys.name')}
        description={t('keys.nameHint')}
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label={t('keys.expires')}
        allowDeselect={false}
        data={DAYS.map((days) => ({ value: String(days), label: t(`keys.days.${days}`) }))}
        {...form.getInputProps('days')}
      />
      <TagsInput
        label={t('keys.paths')}
        description={t('keys.pathsHint')}
        placeholder="/api/v1/channels"
        {...form.getInputProps('allowed_endpoints')}
      />
    </Form>
  );
}
