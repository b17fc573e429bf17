import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useConfig } from '../api/session.ts';
import { Page } from '../ui/Page.tsx';
import { BrowserNotifications } from './BrowserNotifications.tsx';
import { OwnWebhook } from './OwnWebhook.tsx';
import { WebPush } from './WebPush.tsx';

export function NotificationsPage() {
  const { t } = useTranslation('account');
  const { features } = useConfig();
  return (
    <Page title={t('notifications.title')}>
      <Stack gap="xl">
        <BrowserNotifications />
        {features.enable_web_push && <WebPush />}
        {features.enable_user_webhooks && <OwnWebhook />}
      </Stack>
    </Page>
  );
}
