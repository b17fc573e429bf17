import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { dateOfNs, dayAndTime } from '../../base/time.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { AnchorTo } from '../../ui/links.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Part } from '../../ui/Part.tsx';
import { CopyAddress } from './CopyAddress.tsx';
import { CreateWebhook } from './CreateWebhook.tsx';
import { useNumberedPages } from './numbered.ts';

type Webhook = Outputs['webhooks']['listAll'][number];

/** The addresses by which programs post into channels, of all channels. */
export function ChannelWebhooks() {
  const { t } = useTranslation('admin');
  const [isCreating, { open, close }] = useDisclosure(false);
  const webhooks = useNumberedPages(trpc.webhooks.listAll.queryKey(), (page) =>
    api.webhooks.listAll.query(page),
  );
  return (
    <Part
      title={t('webhooks.channels')}
      hint={t('webhooks.channelsHint')}
      actions={
        <Button size="xs" leftSection={<Plus size={15} aria-hidden />} onClick={open}>
          {t('webhooks.create')}
        </Button>
      }
    >
      <DataTable
        label={t('webhooks.channels')}
        columns={useColumns()}
        keyOf={({ id }) => id}
        empty={
          <Text size="sm" c="dimmed">
            {t('webhooks.none')}
          </Text>
        }
        {...webhooks}
      />
      <CreateWebhook opened={isCreating} onClose={close} />
    </Part>
  );
}

function useColumns(): Column<Webhook>[] {
  const { t } = useTranslation('admin');
  return [
    {
      key: 'name',
      label: t('people.name'),
      render: ({ name }) => (
        <Text size="sm" fw={500}>
          {name}
        </Text>
      ),
    },
    { key: 'channel', label: t('webhooks.channel'), render: (webhook) => <ChannelCell {...webhook} /> },
    {
      key: 'owner',
      label: t('webhooks.owner'),
      isWide: true,
      render: ({ user }) =>
        user && (
          <AnchorTo to="/admin/people/$userId" params={{ userId: user.id }} size="sm">
            {user.name}
          </AnchorTo>
        ),
    },
    {
      key: 'used',
      label: t('person.keyUsed'),
      width: 165,
      isWide: true,
      render: ({ last_used_at }) => (
        <Text size="sm">
          {last_used_at === null ? t('person.never') : dayAndTime(dateOfNs(last_used_at))}
        </Text>
      ),
    },
    {
      key: 'actions',
      label: t('webhooks.actions'),
      hidesLabel: true,
      width: 88,
      render: (webhook) => <Actions webhook={webhook} />,
    },
  ];
}

/** Names of groups may be empty: their members name them. */
function ChannelCell({ channel: { id, name } }: Webhook) {
  const { t } = useTranslation('admin');
  return (
    <AnchorTo to="/channels/$channelId" params={{ channelId: id }} size="sm">
      {name || t('webhooks.unnamed')}
    </AnchorTo>
  );
}

function Actions({ webhook: { id, channel_id, name } }: { webhook: Webhook }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const remove = useMutation(
    trpc.webhooks.delete.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.webhooks.pathFilter()),
    }),
  );
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      <CopyAddress id={id} channelId={channel_id} name={name} />
      <ConfirmButton
        label={t('webhooks.deleteName', { name })}
        icon={<Trash2 size={16} aria-hidden />}
        title={t('webhooks.deleteName', { name })}
        confirm={t('common:action.delete')}
        onConfirm={() => remove.mutateAsync({ id: channel_id, webhook_id: id })}
      >
        <Text size="sm">{t('webhooks.deleteHint')}</Text>
      </ConfirmButton>
    </Group>
  );
}
