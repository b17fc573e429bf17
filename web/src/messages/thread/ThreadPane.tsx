import { ActionIcon } from '@mantine/core';
import type { Channel } from '@parley/client';
import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import { isTouch } from '../../base/device.ts';
import { MessagePane } from '../MessagePane.tsx';
import { openAtEnd, useStore } from '../store/useStore.ts';
import classes from './ThreadPane.module.css';

interface Properties {
  channel: Channel;
  rootId: string;
  /** The reply to jump to. */
  messageId: string | undefined;
  onJumped(): void;
  onClose(): void;
}

const nothing = () => {};

/** A thread beside the main line; over it on a narrow screen. */
export function ThreadPane({ channel, rootId, messageId, onJumped, onClose }: Properties) {
  const { t } = useTranslation('messages');
  const { t: common } = useTranslation();
  const store = useStore(channel.id, rootId, useMe());
  useEffect(() => {
    if (messageId) void store.jump(messageId).then(onJumped);
    else if (store.window().status === 'loading') void openAtEnd(store);
  }, [store, messageId, onJumped]);
  const pane = useThreadFocus(rootId);
  return (
    <aside
      ref={pane}
      className={classes.thread}
      aria-label={t('thread.title')}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header className={classes.head}>
        <h2 className={classes.title}>{t('thread.title')}</h2>
        <ActionIcon variant="subtle" color="gray" aria-label={common('action.close')} onClick={onClose}>
          <X size={18} aria-hidden />
        </ActionIcon>
      </header>
      <MessagePane label={t('thread.title')} channel={channel} store={store} onThread={nothing} />
    </aside>
  );
}

/** The focus goes to the reply field, and with the end of the thread back to its first message in the main line. */
function useThreadFocus(rootId: string) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone, the keyboard would cover the thread.
    if (!isTouch()) pane.current?.querySelector('textarea')?.focus({ preventScroll: true });
    return () => {
      if (document.activeElement !== document.body) return;
      document.querySelector<HTMLElement>(`[data-message="${rootId}"]`)?.focus({ preventScroll: true });
    };
  }, [rootId]);
  return pane;
}
