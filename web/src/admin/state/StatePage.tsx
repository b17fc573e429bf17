import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function StatePage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.state')}>{null}</Page>;
}
