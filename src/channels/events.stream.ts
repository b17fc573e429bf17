import { openInbox } from '../auth/watch.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Inbox, Outlet } from '../core/subscription.ts';
import { readableChannels } from './channels.service.ts';
import {
  type Cursor,
  CursorKeeper,
  formatCursor,
  parseCursor,
  SETTLED_MICROS,
  toNanoseconds,
} from './events.cursor.ts';
import { eventsAfter } from './events.replay.ts';
import { readClock, readPositions, readRecentHeads } from './events.repository.ts';
import type { ChannelEventView } from './events.schema.ts';

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
    await follower.refresh(true);
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
      if (marks.recheck || marks.doubt) await follower.refresh(marks.recheck);
      for (const channelId of marks.news) {
        for await (const event of follower.catchUp(channelId)) {
          yield { id: keeper.advance(channelId, event.event_id, event.created_at), event };
        }
      }
      if (inbox.quiet && follower.isCaughtUp && scope.hub.settled) keeper.settle();
    }
  } finally {
    inbox.close();
  }
}

const ALWAYS_OPEN: Outlet = { full: false, drained: async () => {} };

/** One subscriber's channels and how far it has read in each. */
class Follower {
  readonly #scope: Scope;
  readonly #inbox: Inbox;
  readonly #keeper: CursorKeeper;
  readonly #wanted: string[] | null;
  readonly #watched = new Set<string>();
  readonly #positions = new Map<string, number>();
  /** Channels whose readers have changed, each with the number that new readers begin behind. */
  #changed = new Map<string, number>();
  /** Where to go on in channels that are out of reach now. */
  readonly #left = new Map<string, number>();
  /** Channels that go on when the outlet has drained. */
  readonly #stalled = new Set<string>();
  readonly #outlet: Outlet;

  constructor(scope: Scope, inbox: Inbox, keeper: CursorKeeper, wanted: string[] | null) {
    this.#scope = scope;
    this.#inbox = inbox;
    this.#keeper = keeper;
    this.#wanted = wanted?.map((id) => id.toLowerCase()) ?? null;
    this.#outlet = scope.reply.outlet ?? ALWAYS_OPEN;
    inbox.onClose(
      scope.hub.onEvent(({ channel_id }) => {
        if (this.#positions.has(channel_id)) inbox.news(channel_id);
      }),
    );
    inbox.onClose(
      scope.bus.subscribe('channel.access', ({ channelId, since }) => {
        if (this.#wanted && !this.#wanted.includes(channelId)) return;
        if (!this.#changed.has(channelId)) this.#changed.set(channelId, since);
        inbox.doubt();
      }),
    );
    inbox.onClose(() => this.#unwatch([...this.#watched]));
  }

  /** Whether everything that this process knows of was handed out. */
  get isCaughtUp(): boolean {
    return this.#stalled.size === 0;
  }

  /** Brings what is followed in line with what the caller may read now: all channels, or those whose readers have changed. */
  async refresh(everything: boolean): Promise<void> {
    const { sql, hub } = this.#scope;
    const changed = this.#changed;
    this.#changed = new Map();
    const among = everything ? this.#wanted : [...changed.keys()];
    const readable = await this.#readable(among);
    if (this.#wanted && among?.some((id) => !readable.has(id))) throw new AppError('forbidden');
    const looked = everything ? [...this.#watched] : [...changed.keys()];
    const lost = looked.filter((id) => this.#watched.has(id) && !readable.has(id));
    for (const channelId of lost) this.#left.set(channelId, this.#positions.get(channelId) ?? 0);
    this.#unwatch(lost);

    const added = [...readable].filter((channelId) => !this.#watched.has(channelId));
    if (added.length === 0) return;
    await hub.watch(added);
    for (const channelId of added) this.#watched.add(channelId);
    if (this.#inbox.closed) return this.#unwatch(added);
    const { momentMicros } = this.#keeper;
    for (const { id, head, position } of await readPositions(sql, added, toNanoseconds(momentMicros))) {
      const begin = this.#left.get(id) ?? changed.get(id);
      this.#left.delete(id);
      // Where the moment says the same, the cursor needs no number.
      if (begin !== undefined && begin !== position) this.#keeper.begin(id, Math.min(begin, head));
      // A number beyond the log is from before a backup was restored; waiting for it would be waiting for ever.
      this.#positions.set(id, Math.min(this.#keeper.numberOf(id) ?? position, head));
      this.#inbox.news(id);
    }
  }

  /** None while channels are switched off: whoever follows all of them just waits. */
  async #readable(among: string[] | null): Promise<Set<string>> {
    // Asking again notices another role, and a session that ended while notices were missed.
    const actor = await this.#scope.identify();
    try {
      return new Set(await readableChannels({ ...this.#scope, actor }, among));
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

  /**
   * What is new in a channel since the last call. Stops short when access is in doubt, and when the client does not read; the rest
   * comes after the new look, or when the client has read.
   */
  async *catchUp(channelId: string): AsyncGenerator<ChannelEventView> {
    const position = this.#positions.get(channelId);
    if (position === undefined || this.#stalled.has(channelId)) return;
    for await (const event of eventsAfter(this.#scope.hub, channelId, position, this.#outlet)) {
      if (this.#inbox.interrupted) return this.#inbox.news(channelId);
      this.#positions.set(channelId, event.event_id);
      yield event;
    }
    if (this.#outlet.full) void this.#goOnLater(channelId);
  }

  async #goOnLater(channelId: string): Promise<void> {
    this.#stalled.add(channelId);
    await this.#outlet.drained();
    this.#stalled.delete(channelId);
    this.#inbox.news(channelId);
  }
}
