import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export function AuditPage() {
  const { t } = useTranslation('admin');
  return <Page title={t('section.audit')}>{null}</Page>;
}
