import { Drawer } from '@mantine/core';
import { useLongPress } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMessage } from '../pane.ts';
import { ActionSheet } from './ActionSheet.tsx';

/** On a phone, a long press opens the actions of a message. */
export function useSheet(id: string) {
  const { t } = useTranslation('messages');
  const [isOpen, setOpen] = useState(false);
  const longPress = useLongPress(() => setOpen(true), {
    threshold: 450,
    events: ['touch'],
    cancelOnMove: true,
  });
  const close = () => setOpen(false);
  const sheet = isOpen && (
    <Drawer
      opened
      onClose={close}
      position="bottom"
      size="auto"
      title={t('action.all')}
      transitionProps={{ duration: 120 }}
    >
      <Sheet id={id} onClose={close} />
    </Drawer>
  );
  return { sheet, longPress };
}

function Sheet({ id, onClose }: { id: string; onClose(): void }) {
  const message = useMessage(id);
  return message ? <ActionSheet message={message} onClose={onClose} /> : null;
}
