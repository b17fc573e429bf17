import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function PermissionsPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.permissions')}>{null}</Page>;
}
