import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function GroupsPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.groups')}>{null}</Page>;
}
