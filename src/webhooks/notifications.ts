import type { Parts } from '../core/scope.ts';
import type { Deliveries } from './deliveries/deliveries.store.ts';
import { type PostedNotice, readConcerned } from './notifications.repository.ts';
import { readBrowsers } from './push/push.repository.ts';

type Needed = Pick<Parts, 'sql' | 'bus' | 'configs' | 'presence'> & { push: object | null };

/**
 * Notifies users of new messages by their webhooks and browsers. A notice goes to users whom the message concerns and who
 * are not connected. Messages posted by programs send no notices.
 *
 * @returns the function that stops it; it resolves after all earlier notices are stored
 */
export function notifyOfMessages(
  parts: Needed,
  deliveries: Deliveries,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const { sql, bus, configs, presence, push } = parts;
  const running = new Set<Promise<void>>();

  async function notify(posted: PostedNotice, messageId: string): Promise<void> {
    const message = { channelId: posted.channelId, messageId };
    const hasWebhooks = configs.current.ui.enable_user_webhooks;
    const [webhooks, browsers] = await Promise.all([
      hasWebhooks ? readConcerned(sql, posted) : [],
      push ? readBrowsers(sql, posted) : [],
    ]);
    const notices = [
      ...webhooks.map(({ id: userId, url }) => ({ ...message, userId, url })),
      ...browsers.map(({ user_id: userId, origin: url, id: pushId }) => ({
        ...message,
        userId,
        url,
        pushId,
      })),
    ];
    const connected = presence.connectedAmong(notices.map(({ userId }) => userId));
    const due = notices.filter(({ userId }) => !connected.has(userId));
    if (due.length > 0) await deliveries.enqueue(due);
  }

  const unsubscribe = bus.subscribe('message.posted', ({ authorId, messageId, ...posted }) => {
    if (authorId === null || !(push || configs.current.ui.enable_user_webhooks)) return;
    const task = notify({ ...posted, authorId }, messageId)
      .catch(onError)
      .finally(() => running.delete(task));
    running.add(task);
  });
  return async () => {
    unsubscribe();
    await Promise.all(running);
  };
}
