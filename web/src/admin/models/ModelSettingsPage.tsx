import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function ModelSettingsPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.models')}>{null}</Page>;
}
