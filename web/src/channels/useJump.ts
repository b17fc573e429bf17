import { useEffect } from 'react';
import { api } from '../api/client.ts';
import { noticeEnd } from '../api/query.ts';
import { showError } from '../base/errors.ts';
import type { MessageStore } from '../messages/store/store.ts';
import { openAtUnread } from '../messages/store/useStore.ts';

type Go = (search: { thread?: string; message?: string }, replace?: boolean) => void;

/**
 * Goes to the message of the address: in the main line, or first to its thread. The address loses the message then, so that
 * the same link works again.
 */
export function useJump(
  store: MessageStore,
  thread: string | undefined,
  message: string | undefined,
  go: Go,
): void {
  useEffect(() => {
    // With a thread, the jump is its matter.
    if (!message || thread) return;
    void (async () => {
      try {
        const { parent_id } =
          store.get(message) ??
          (await api.messages.get.query({ id: store.options.channelId, message_id: message }));
        if (parent_id) return go({ thread: parent_id, message }, true);
        await store.jump(message);
      } catch (error) {
        noticeEnd(error);
        showError(error);
        if (store.window().status === 'loading') await openAtUnread(store);
      }
      go({}, true);
    })();
  }, [store, thread, message, go]);
}
