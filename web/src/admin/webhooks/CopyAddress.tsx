import { ActionIcon, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { skipToken, useQuery } from '@tanstack/react-query';
import { Link } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { addressOf } from '../../base/webhook.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { AddressField } from './AddressField.tsx';

interface Properties {
  id: string;
  channelId: string;
  name: string;
}

/** Shows the address of a webhook when it is asked for: it is a secret, so the list does not have it. */
export function CopyAddress({ id, channelId, name }: Properties) {
  const { t } = useTranslation('admin');
  const [isOpen, { open, close }] = useDisclosure(false);
  const { data, error } = useQuery(trpc.webhooks.list.queryOptions(isOpen ? { id: channelId } : skipToken));
  const webhook = data?.find((one) => one.id === id);
  const label = t('webhooks.showAddress', { name });
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={open}>
        <Link size={16} aria-hidden />
      </ActionIcon>
      <Modal opened={isOpen} onClose={close} title={name}>
        <ErrorNote error={error} />
        <AddressField address={webhook?.token ? addressOf(webhook) : ''} isLost={webhook?.token === ''} />
      </Modal>
    </>
  );
}
