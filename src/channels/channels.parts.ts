import type { Base } from '../noun.ts';
import { announcePresence } from './events/events.presence.ts';
import { keepEventsFor } from './events/events.retention.ts';

export function startChannels({ env, sql, bus, hub, presence, warn }: Base) {
  const onError = warn('A notice about presence failed.');
  const stopAnnouncing = announcePresence({ presence, hub, sql, bus, onError });
  const retention = keepEventsFor(env.EVENT_RETENTION_DAYS, {
    sql,
    onError: warn('Old events could not be removed.'),
  });
  return {
    async close() {
      await retention.close();
      stopAnnouncing();
    },
  };
}
