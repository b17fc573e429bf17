import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';
import { AllDeliveries } from './AllDeliveries.tsx';
import { ChannelWebhooks } from './ChannelWebhooks.tsx';
import { SignupAddress } from './SignupAddress.tsx';

export function WebhooksPage() {
  const { t } = useTranslation('admin');
  return (
    <Page title={t('section.webhooks')} wide>
      <Stack gap="xl">
        <ChannelWebhooks />
        <SignupAddress />
        <AllDeliveries />
      </Stack>
    </Page>
  );
}
