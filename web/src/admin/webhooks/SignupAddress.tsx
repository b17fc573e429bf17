import { Button, Group, Skeleton, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { notify } from '../../base/notify.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Part } from '../../ui/Part.tsx';

/** The address to which the server posts a message when a person signs up. */
export function SignupAddress() {
  const { t } = useTranslation('admin');
  const { data, error, refetch } = useQuery(trpc.configParts.webhook.queryOptions());
  return (
    <Part title={t('webhooks.signup')} hint={t('webhooks.signupHint')}>
      <ErrorNote error={error} onRetry={refetch} />
      {data && <AddressForm url={data.url} />}
      {!data && !error && <Skeleton height={60} />}
    </Part>
  );
}

function AddressForm({ url }: { url: string }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { url } });
  const save = useMutation(
    trpc.configParts.setWebhook.mutationOptions({
      meta: { showsError: true },
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.configParts.webhook.pathFilter());
        void notify({ message: t('saved') });
      },
    }),
  );
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate({ url: values.url.trim() }))}>
      <ErrorNote error={save.error} />
      <Group align="flex-end" gap="xs" maw={720} mt={save.error ? 'sm' : 0}>
        <TextInput
          flex={1}
          miw={240}
          type="url"
          label={t('webhooks.address')}
          placeholder="https://"
          {...form.getInputProps('url')}
        />
        <Button type="submit" loading={save.isPending}>
          {t('common:action.save')}
        </Button>
      </Group>
    </form>
  );
}
