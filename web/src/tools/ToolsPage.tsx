import { useTranslation } from 'react-i18next';
import { Page } from '../ui/Page.tsx';

export function ToolsPage() {
  const { t } = useTranslation();
  return <Page title={t('nav.tools')}>{null}</Page>;
}
