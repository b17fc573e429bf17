import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function PeoplePage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.people')}>{null}</Page>;
}
