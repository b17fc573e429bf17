import { Modal, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Changes } from './Changes.tsx';

/** The changes of one setting. */
export default function SettingHistory({ path, onClose }: { path: string; onClose(): void }) {
  const { t } = useTranslation('config');
  return (
    <Modal opened onClose={onClose} size="xl" title={t('setting.historyTitle')}>
      <Text size="xs" c="dimmed" ff="monospace" mb="sm">
        {path}
      </Text>
      <Changes path={path} />
    </Modal>
  );
}
