import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function ConnectionsPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.connections')}>{null}</Page>;
}
