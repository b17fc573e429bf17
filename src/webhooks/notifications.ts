import type { Parts } from '../core/scope.ts';
import type { Deliveries } from './deliveries/deliveries.store.ts';
import { type PostedNotice, readConcerned } from './notifications.repository.ts';

type Needed = Pick<Parts, 'sql' | 'bus' | 'configs' | 'presence'>;

/**
 * Notifies users of new messages by their webhooks. A notice goes to users whom the message concerns and who
 * are not connected. Messages posted by programs send no notices.
 *
 * @returns the function that stops it; it resolves after all earlier notices are stored
 */
export function notifyOfMessages(
  parts: Needed,
  deliveries: Deliveries,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const { sql, bus, configs, presence } = parts;
  const running = new Set<Promise<void>>();

  async function notify(posted: PostedNotice, messageId: string): Promise<void> {
    const { channelId } = posted;
    const concerned = await readConcerned(sql, posted);
    const connected = presence.connectedAmong(concerned.map(({ id }) => id));
    const notices = concerned
      .filter(({ id }) => !connected.has(id))
      .map(({ id: userId, url }) => ({ userId, url, channelId, messageId }));
    if (notices.length > 0) await deliveries.enqueue(notices);
  }

  const unsubscribe = bus.subscribe('message.posted', ({ authorId, messageId, ...posted }) => {
    if (authorId === null || !configs.current.ui.enable_user_webhooks) return;
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
