import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const isKnown = 'Notification' in window;

/** Browsers ask a person only once, and only after a click. */
export function BrowserNotifications() {
  const { t } = useTranslation('account');
  const [permission, setPermission] = useState(isKnown ? Notification.permission : 'denied');
  const ask = async () => setPermission(await Notification.requestPermission());
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('notifications.browser')}
      </Title>
      <Text c="dimmed">{t('notifications.browserHint')}</Text>
      {permission === 'granted' && <Alert color="green">{t('notifications.granted')}</Alert>}
      {permission === 'denied' && (
        <Alert color="yellow">{isKnown ? t('notifications.denied') : t('notifications.unknown')}</Alert>
      )}
      {permission === 'default' && (
        <Group>
          <Button onClick={() => void ask()}>{t('notifications.allow')}</Button>
        </Group>
      )}
    </Stack>
  );
}
