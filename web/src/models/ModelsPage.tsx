import { useTranslation } from 'react-i18next';
import { Page } from '../ui/Page.tsx';

export function ModelsPage() {
  const { t } = useTranslation();
  return <Page title={t('nav.models')}>{null}</Page>;
}
