import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ButtonTo } from '../../ui/links.tsx';
import { Page } from '../../ui/Page.tsx';
import { Changes } from '../settings/history/Changes.tsx';

/** The changes of the whole configuration, newest first. */
export function HistoryPage() {
  const { t } = useTranslation('config');
  return (
    <Page
      title={t('history.title')}
      wide
      actions={
        <ButtonTo to="/admin/configuration" size="xs" variant="default">
          {t('history.back')}
        </ButtonTo>
      }
    >
      <Text size="sm" c="dimmed" mb="md">
        {t('history.hint')}
      </Text>
      <Changes />
    </Page>
  );
}
