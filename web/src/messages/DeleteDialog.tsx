import { Text } from '@mantine/core';
import type { Message } from '@parley/client';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { plainText } from '../composer/mentions.ts';
import { ConfirmModal } from '../ui/ConfirmButton.tsx';

interface Properties {
  message: Message;
  onClose(): void;
}

export default function DeleteDialog({ message, onClose }: Properties) {
  const { t } = useTranslation('messages');
  return (
    <ConfirmModal
      opened
      onClose={onClose}
      title={t('remove.title')}
      confirm={t('remove.confirm')}
      onConfirm={() => api.messages.delete.mutate({ id: message.channel_id, message_id: message.id })}
    >
      <Text>{t('remove.hint')}</Text>
      <Text c="dimmed" lineClamp={3}>
        {plainText(message.content)}
      </Text>
    </ConfirmModal>
  );
}
