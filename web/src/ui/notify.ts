import type { NotificationData } from '@mantine/notifications';

/** Shows a message at the edge of the page. Loaded when the first one is shown: a visit may need none. */
export async function notify(message: NotificationData): Promise<void> {
  const { notifications } = await import('@mantine/notifications');
  notifications.show(message);
}
