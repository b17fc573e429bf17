import { useTranslation } from 'react-i18next';
import { Page } from '../ui/Page.tsx';

export function AdministrationPage() {
  const { t } = useTranslation();
  return <Page title={t('nav.admin')}>{null}</Page>;
}
