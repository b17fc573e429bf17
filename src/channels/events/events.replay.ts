import type { Outlet } from '../../core/subscription.ts';
import type { ChannelHub } from './events.hub.ts';
import type { LoggedView } from './events.schema.ts';

/** Pages grow while they are taken: an event may hold half a megabyte, and one that does not go out was read in vain. */
const FIRST_PAGE = 2;
const LARGEST_PAGE = 32;

/**
 * The events of a channel after a number, oldest first, until there is nothing newer or the outlet is full. Whoever waits for the
 * outlet begins anew behind the last event, so nothing is held meanwhile.
 */
export async function* eventsAfter(
  hub: ChannelHub,
  channelId: string,
  position: number,
  outlet: Outlet,
): AsyncGenerator<LoggedView> {
  let last = position;
  for (let limit = FIRST_PAGE; !outlet.full; limit = Math.min(2 * limit, LARGEST_PAGE)) {
    const events = await hub.after(channelId, last, limit);
    for (const event of events) {
      // Others may have filled it while the page was read.
      if (outlet.full) return;
      yield event;
      last = event.event_id;
    }
    if (events.length < limit) return;
  }
}
