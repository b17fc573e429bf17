import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function UsagePage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.usage')}>{null}</Page>;
}
