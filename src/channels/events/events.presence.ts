import type { Sql } from '../../database/sql.ts';
import type { Bus } from '../../events/bus.ts';
import type { EventHub } from '../../events/hub/hub.ts';
import type { Presence, PresenceChanges } from '../../events/presence.ts';
import { CHANNEL } from './events.kind.ts';
import { SHARED } from './events.repository.ts';

/** Channels with more connections get no presence notices: each notice would go to all of them. */
const MAX_LISTENERS = 200;
/**
 * No notices if more people come or go at once, for example after a restart: clients have just reconnected
 * and read the presence themselves.
 */
const MAX_PEOPLE = 50;

/**
 * Publishes presence notices to the subscribers of this process: one statement for all changes of a moment.
 * Each process knows all changes and notifies its own subscribers.
 *
 * @returns the function that stops it
 */
export function announcePresence(options: {
  presence: Presence;
  hub: EventHub;
  sql: Sql;
  bus: Bus;
  onError: (error: unknown) => void;
}): () => void {
  const { presence, hub, sql, bus, onError } = options;

  async function announce(changes: PresenceChanges): Promise<void> {
    const channelIds = hub.followed(CHANNEL, MAX_LISTENERS);
    if (changes.size > MAX_PEOPLE || channelIds.length === 0) return;
    for (const { channel_id, ...user } of await sql.rows(SHARED, {
      userIds: [...changes.keys()],
      channelIds,
    })) {
      const data = { type: 'presence' as const, data: { is_active: changes.get(user.id) ?? false } };
      const notice = { channel_id, message_id: null, data, user };
      bus.announce('channel.notice', { to: { channelId: channel_id }, notice });
    }
  }

  return presence.onChange((changes) => void announce(changes).catch(onError));
}
