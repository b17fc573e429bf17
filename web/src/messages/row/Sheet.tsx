import { Drawer } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMessage } from '../pane.ts';
import { ActionSheet } from './ActionSheet.tsx';

/** The actions of a message at the lower edge of a phone. */
export default function Sheet({ id, onClose }: { id: string; onClose(): void }) {
  const { t } = useTranslation('messages');
  const message = useMessage(id);
  return (
    <Drawer
      opened
      onClose={onClose}
      position="bottom"
      size="auto"
      title={t('action.all')}
      transitionProps={{ duration: 120 }}
    >
      {message && <ActionSheet message={message} onClose={onClose} />}
    </Drawer>
  );
}
