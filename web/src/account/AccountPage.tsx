import { useTranslation } from 'react-i18next';
import { Page } from '../ui/Page.tsx';

export function AccountPage() {
  const { t } = useTranslation();
  return <Page title={t('nav.account')}>{null}</Page>;
}
