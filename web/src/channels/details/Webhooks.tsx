import { Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Webhook } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { WebhookRow } from './WebhookRow.tsx';

/** The addresses by which programs post into the channel, for its managers. */
export function Webhooks({ channelId }: { channelId: string }) {
  const { t } = useTranslation('channels');
  const { data: webhooks, error } = useQuery(trpc.webhooks.list.queryOptions({ id: channelId }));
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t('webhooks.hint')}
      </Text>
      <NewWebhook channelId={channelId} />
      <ErrorNote error={error} />
      {!webhooks && !error && <Skeleton height={56} />}
      {webhooks?.length === 0 && (
        <Empty icon={<Webhook size={28} aria-hidden />} title={t('webhooks.none')}>
          {t('webhooks.noneHint')}
        </Empty>
      )}
      {webhooks?.map((webhook) => (
        <WebhookRow key={webhook.id} webhook={webhook} />
      ))}
    </Stack>
  );
}

function NewWebhook({ channelId }: { channelId: string }) {
  const { t } = useTranslation(['channels', 'common']);
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      meta: { showsError: true },
      onSuccess: () => {
        setName('');
        return queryClient.invalidateQueries(trpc.webhooks.list.queryFilter({ id: channelId }));
      },
    }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim()) create.mutate({ id: channelId, name: name.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          label={t('webhooks.name')}
          autoComplete="off"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" loading={create.isPending} disabled={!name.trim()}>
          {t('common:action.add')}
        </Button>
      </Group>
      <ErrorNote error={create.error} />
    </form>
  );
}
