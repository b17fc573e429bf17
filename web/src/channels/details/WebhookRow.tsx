import { Button, CopyButton, Group, PasswordInput, Stack, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Check, Copy, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfNs, dayAndTime } from '../../base/time.ts';
import { addressOf } from '../../base/webhook.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';

type Webhook = Outputs['webhooks']['list'][number];

/** One address. It is the whole credential, so it is covered until it is asked for. */
export function WebhookRow({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation(['channels', 'common']);
  const queryClient = useQueryClient();
  const remove = useMutation(
    trpc.webhooks.delete.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.webhooks.list.pathFilter()),
    }),
  );
  const { id, channel_id, name, token, last_used_at } = webhook;
  const address = addressOf({ id, token });
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={500} truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {last_used_at
              ? t('webhooks.used', { date: dayAndTime(dateOfNs(last_used_at)) })
              : t('webhooks.unused')}
          </Text>
        </div>
        <ConfirmButton
          label={t('webhooks.delete', { name })}
          icon={<Trash2 size={16} aria-hidden />}
          title={t('webhooks.deleteTitle', { name })}
          confirm={t('common:action.delete')}
          onConfirm={() => remove.mutateAsync({ id: channel_id, webhook_id: id })}
        >
          {t('webhooks.deleteHint')}
        </ConfirmButton>
      </Group>
      {token ? (
        <Group gap="xs" wrap="nowrap">
          <PasswordInput
            flex={1}
            size="xs"
            readOnly
            value={address}
            aria-label={t('webhooks.address', { name })}
            autoComplete="off"
          />
          <CopyButton value={address}>
            {({ copied, copy }) => (
              <Button
                size="xs"
                variant="default"
                leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
                onClick={copy}
              >
                {t(copied ? 'common:action.copied' : 'common:action.copy')}
              </Button>
            )}
          </CopyButton>
        </Group>
      ) : (
        <Text size="xs" c="red">
          {t('webhooks.lost')}
        </Text>
      )}
    </Stack>
  );
}
