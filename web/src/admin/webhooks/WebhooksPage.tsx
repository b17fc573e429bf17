import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function WebhooksPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.webhooks')}>{null}</Page>;
}
