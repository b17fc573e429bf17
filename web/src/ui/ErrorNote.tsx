import { Alert, Button, Group } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { sentenceOf } from '../base/errors.ts';

interface Properties {
  error: unknown;
  onRetry?: () => void;
}

/** Shows the sentence of the server; nothing without an error. */
export function ErrorNote({ error, onRetry }: Properties) {
  const { t } = useTranslation();
  if (error === null || error === undefined) return null;
  return (
    <Alert color="red" variant="light" role="alert" icon={<CircleAlert size={18} aria-hidden />}>
      <Group justify="space-between" gap="sm">
        {sentenceOf(error)}
        {onRetry && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            {t('error.retry')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}
