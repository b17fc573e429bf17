import { Alert, Button, Group } from '@mantine/core';
import { CircleAlert, RotateCcw } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import type { Message } from '../types.ts';

interface Properties {
  message: Message;
  error: { message: string };
  onRetry(): void;
}

/** The reason of a failure. The person who called the model may let it try again. */
export function Failure({ message, error, onRetry }: Properties) {
  const { t } = useTranslation('replies');
  const me = useMe();
  return (
    <Alert color="red" variant="light" p="xs" my={4} icon={<CircleAlert size={16} aria-hidden />}>
      <Group justify="space-between" gap="xs">
        {error.message}
        {message.user_id === me.id && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<RotateCcw size={14} aria-hidden />}
            onClick={onRetry}
          >
            {t('retry')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}
