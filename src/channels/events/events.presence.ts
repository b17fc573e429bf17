import type { Sql } from '../../database/sql.ts';
import type { Bus } from '../../events/bus.ts';
import type { EventHub } from '../../events/hub/hub.ts';
import type { Presence, PresenceChanges } from '../../events/presence.ts';
import { CHANNEL } from './events.kind.ts';
import { SHARED } from './events.repository.ts';

/** In channels that more connections hear, nobody is told who comes and goes: that is everybody, to everybody. */
const MAX_LISTENERS = 200;
/** When more come or go at once, as after a restart, clients look themselves: their own connection has just come anew. */
const MAX_PEOPLE = 50;

/**
 * Tells those who hear a channel here which of its readers come and go, in one statement for all changes of a moment. Each process
 * knows the changes and tells its own listeners.
 *
 * @returns what ends it
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
