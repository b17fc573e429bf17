import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function ConfigurationPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.configuration')}>{null}</Page>;
}
