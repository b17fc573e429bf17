import { openInbox } from '../../auth/watch.ts';
import type { Scope } from '../../core/scope.ts';
import type { Inbox, Item } from '../../core/subscription.ts';
import {
  type Cursor,
  CursorKeeper,
  formatCursor,
  parseCursor,
  SETTLED_MICROS,
  tagOf,
  toNanoseconds,
} from '../../events/cursor.ts';
import { Follower } from './events.follower.ts';
import { readClock, readRecentHeads } from './events.repository.ts';
import type { ChannelEventView, ChannelNoticeView, ChannelReloadView, LoggedView } from './events.schema.ts';

export interface StreamOptions {
  /** Only these channels; all that the caller may read unless told. */
  channel_ids?: string[] | undefined;
  /** Where to go on. */
  lastEventId?: string | null | undefined;
}

/** Hand an event's `id` back as `lastEventId` to go on behind it. */
// Written out: the client's declarations would name an alias of a union, and must stand on their own.
export type StreamItem = Item<ChannelEventView | ChannelReloadView, ChannelNoticeView>;

/** A cursor that stands at this moment. A client that asks for it first misses nothing, whenever its first socket breaks. */
export async function currentCursor(scope: Scope): Promise<string> {
  return formatCursor(await cursorOf(scope, await readClock(scope.sql)));
}

/**
 * The cursor behind everything that has happened. An event is stamped when its statement begins and seen when it commits, so
 * the moment stays where nothing can appear any more, and younger events count by their numbers.
 */
async function cursorOf(scope: Scope, nowMicros: number): Promise<Cursor> {
  const momentMicros = nowMicros - SETTLED_MICROS;
  const heads = await readRecentHeads(scope.sql, scope.actor, toNanoseconds(momentMicros));
  return { momentMicros, positions: new Map([...heads].map(([id, head]) => [tagOf(id), head])) };
}

/**
 * The events of channels, first those after the cursor, then live ones as they happen: every event that is logged after the
 * promise resolves. Follows changes of what the caller may read, and ends with their session. A channel that comes (back)
 * within reach goes on where the cursor stands.
 *
 * @throws bad_request for a cursor of somebody's own making, rate_limited when the connection has too many, unauthenticated when the session ends, forbidden when a channel
 *   that was asked for may not be read (any more)
 */
export async function openEventStream(
  scope: Scope,
  options: StreamOptions,
): Promise<AsyncGenerator<StreamItem>> {
  const inbox = openInbox(scope);
  try {
    const given = options.lastEventId ? parseCursor(options.lastEventId) : undefined;
    const nowMicros = await readClock(scope.sql);
    const keeper = new CursorKeeper(given ?? (await cursorOf(scope, nowMicros)), nowMicros);
    const follower = new Follower(scope, inbox, keeper, options.channel_ids ?? null);
    await follower.begin();
    return streamFrom(inbox, follower);
  } catch (error) {
    inbox.close();
    throw error;
  }
}

async function* streamFrom(inbox: Inbox, follower: Follower): AsyncGenerator<StreamItem> {
  try {
    // No item for anybody: the door takes it out.
    if (follower.line) yield follower.line as never;
    for (;;) {
      const marks = await inbox.next();
      if (!marks) return;
      if (marks.recheck || marks.doubt) {
        for (const { notice } of follower.takeCertainNotices()) yield { notice };
        await follower.refresh(marks.recheck);
      }
      for (const { notice, behind } of follower.takeNotices()) {
        yield* logged(follower.catchUp(notice.channel_id, behind));
        yield { notice };
      }
      for (const channelId of marks.news) yield* logged(follower.catchUp(channelId));
      follower.settle();
    }
  } finally {
    inbox.close();
  }

  async function* logged(events: AsyncIterable<LoggedView>): AsyncGenerator<StreamItem> {
    for await (const event of events) yield { id: follower.noteHandedOut(event), event };
  }
}
