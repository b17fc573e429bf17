import type { NotificationData } from '@mantine/notifications';
import { useSyncExternalStore } from 'react';

let hasNotices = false;
const listeners = new Set<() => void>();

/** Whether a message was shown since the page was opened. */
export const useHasNotices = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hasNotices,
  );

/** Shows a message at the edge of the page. Loaded when the first one is shown: a visit may need none. */
export async function notify(message: NotificationData): Promise<void> {
  const { notifications } = await import('@mantine/notifications');
  hasNotices = true;
  for (const listener of listeners) listener();
  notifications.show(message);
}
