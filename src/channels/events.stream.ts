import { openInbox } from '../auth/watch.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Inbox } from '../core/subscription.ts';
import { readableChannels } from './channels.service.ts';
import {
  type Cursor,
  CursorKeeper,
  formatCursor,
  parseCursor,
  SETTLED_MICROS,
  toNanoseconds,
} from './events.cursor.ts';
import { readClock, readPositions, readRecentHeads } from './events.repository.ts';
import type { ChannelEventView } from './messages.schema.ts';

export interface StreamOptions {
  /** Only these channels; all that the caller may read unless told. */
  channel_ids?: string[] | undefined;
  /** Where to go on. */
  lastEventId?: string | null | undefined;
}

export interface StreamItem {
  /** Hand it back as `lastEventId` to go on behind this event. */
  id: string;
  event: ChannelEventView;
}

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
  const positions = await readRecentHeads(scope.sql, scope.actor, toNanoseconds(momentMicros));
  return { momentMicros, positions };
}

/**
 * The events of channels, first those after the cursor, then live ones as they happen: every event that is logged after the
 * promise resolves. Follows changes of what the caller may read, and ends with their session. A channel that comes (back)
 * within reach goes on where the cursor stands.
 *
 * @throws bad_request for a cursor of somebody's own making, unauthenticated when the session ends, forbidden when a channel
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
    await follower.refresh();
    return streamFrom(scope, inbox, keeper, follower);
  } catch (error) {
    inbox.close();
    throw error;
  }
}

async function* streamFrom(
  scope: Scope,
  inbox: Inbox,
  keeper: CursorKeeper,
  follower: Follower,
): AsyncGenerator<StreamItem> {
  try {
    for (;;) {
      const marks = await inbox.next();
      if (!marks) return;
      if (marks.recheck) await follower.refresh();
      for (const channelId of marks.news) {
        for await (const event of follower.catchUp(channelId)) {
          yield { id: keeper.advance(channelId, event.event_id, event.created_at), event };
        }
      }
      if (inbox.quiet && scope.hub.settled) keeper.settle();
    }
  } finally {
    inbox.close();
  }
}

/** One subscriber's channels and how far it has read in each. */
class Follower {
  readonly #scope: Scope;
  readonly #inbox: Inbox;
  readonly #keeper: CursorKeeper;
  readonly #wanted: string[] | null;
  readonly #watched = new Set<string>();
  readonly #positions = new Map<string, number>();

  constructor(scope: Scope, inbox: Inbox, keeper: CursorKeeper, wanted: string[] | null) {
    this.#scope = scope;
    this.#inbox = inbox;
    this.#keeper = keeper;
    this.#wanted = wanted?.map((id) => id.toLowerCase()) ?? null;
    inbox.onClose(
      scope.hub.onEvent(({ channel_id }) => {
        if (this.#positions.has(channel_id)) inbox.news(channel_id);
      }),
    );
    inbox.onClose(scope.bus.subscribe('channel.access', () => inbox.recheck()));
    inbox.onClose(() => this.#unwatch([...this.#watched]));
  }

  /** Brings the followed channels in line with what the caller may read now. */
  async refresh(): Promise<void> {
    const { sql, hub } = this.#scope;
    const readable = await this.#readable();
    if (this.#wanted?.some((id) => !readable.has(id))) throw new AppError('forbidden');
    this.#unwatch([...this.#watched].filter((channelId) => !readable.has(channelId)));

    const added = [...readable].filter((channelId) => !this.#watched.has(channelId));
    if (added.length === 0) return;
    await hub.watch(added);
    for (const channelId of added) this.#watched.add(channelId);
    if (this.#inbox.closed) return this.#unwatch(added);
    const { momentMicros } = this.#keeper;
    for (const { id, head, position } of await readPositions(sql, added, toNanoseconds(momentMicros))) {
      // A number beyond the log is from before a backup was restored; waiting for it would be waiting for ever.
      this.#positions.set(id, Math.min(this.#keeper.numberOf(id) ?? position, head));
      this.#inbox.news(id);
    }
  }

  /** None while channels are switched off: whoever follows all of them just waits. */
  async #readable(): Promise<Set<string>> {
    // Asking again notices another role, and a session that ended while notices were missed.
    const actor = await this.#scope.identify();
    try {
      return new Set(await readableChannels({ ...this.#scope, actor }, this.#wanted));
    } catch (error) {
      if (error instanceof AppError) return new Set();
      throw error;
    }
  }

  #unwatch(channelIds: string[]): void {
    for (const channelId of channelIds) {
      this.#watched.delete(channelId);
      this.#positions.delete(channelId);
    }
    this.#scope.hub.unwatch(channelIds);
  }

  /** What is new in a channel since the last call. Stops short when access is in doubt; the rest comes after the new look. */
  async *catchUp(channelId: string): AsyncGenerator<ChannelEventView> {
    for (;;) {
      const position = this.#positions.get(channelId);
      if (position === undefined) return;
      const events = await this.#scope.hub.after(channelId, position);
      if (events.length === 0) return;
      for (const event of events) {
        if (this.#inbox.interrupted) return this.#inbox.news(channelId);
        this.#positions.set(channelId, event.event_id);
        yield event;
      }
    }
  }
}
