import { openInbox } from '../auth/watch.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Inbox } from '../core/subscription.ts';
import { readableChannels } from './channels.service.ts';
import { CursorKeeper, formatCursor, parseCursor, toNanoseconds } from './events.cursor.ts';
import { readClock, readPositions } from './events.repository.ts';
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
  const now = await readClock(scope.sql);
  return formatCursor({ momentMicros: Math.round(Number(now) / 1000), positions: new Map() });
}

/**
 * The events of channels, first those after the cursor, then live ones as they happen. Follows changes of what the caller may
 * read, and ends with their session.
 *
 * @throws unauthenticated when the session ends, forbidden when a channel that was asked for may not be read (any more)
 */
export async function* streamEvents(scope: Scope, options: StreamOptions): AsyncGenerator<StreamItem> {
  const cursor = parseCursor(options.lastEventId || (await currentCursor(scope)));
  const inbox = openInbox(scope);
  const follower = new Follower(scope, inbox, options, cursor.momentMicros, cursor.positions);
  const keeper = new CursorKeeper(cursor);
  try {
    inbox.recheck();
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
    follower.close();
    inbox.close();
  }
}

/** One subscriber's channels and how far it has read in each. */
class Follower {
  readonly #scope: Scope;
  readonly #inbox: Inbox;
  readonly #wanted: string[] | null;
  readonly #momentMicros: number;
  readonly #known: ReadonlyMap<string, number>;
  readonly #positions = new Map<string, number>();
  readonly #releases = new Map<string, () => void>();

  constructor(
    scope: Scope,
    inbox: Inbox,
    options: StreamOptions,
    momentMicros: number,
    known: ReadonlyMap<string, number>,
  ) {
    this.#scope = scope;
    this.#inbox = inbox;
    this.#wanted = options.channel_ids ?? null;
    this.#momentMicros = momentMicros;
    this.#known = known;
    inbox.onClose(
      scope.hub.onEvent(({ channel_id }) => {
        if (this.#positions.has(channel_id)) inbox.news(channel_id);
      }),
    );
    inbox.onClose(scope.bus.subscribe('channel.access', () => inbox.recheck()));
  }

  /** Brings the followed channels in line with what the caller may read now. */
  async refresh(): Promise<void> {
    const { sql, hub } = this.#scope;
    // Asking again notices another role, and a session that ended while notices were missed.
    const actor = await this.#scope.identify();
    const readable = new Set(await readableChannels({ ...this.#scope, actor }, this.#wanted));
    if (this.#wanted?.some((id) => !readable.has(id))) throw new AppError('forbidden');

    for (const [channelId, release] of this.#releases) {
      if (readable.has(channelId)) continue;
      release();
      this.#releases.delete(channelId);
      this.#positions.delete(channelId);
    }
    const added = [...readable].filter((channelId) => !this.#releases.has(channelId));
    if (added.length === 0) return;
    const release = await hub.watch(added);
    const starts = await readPositions(sql, added, toNanoseconds(this.#momentMicros));
    let held = added.length;
    for (const channelId of added) {
      this.#positions.set(channelId, this.#known.get(channelId) ?? starts.get(channelId) ?? 0);
      this.#releases.set(channelId, () => {
        held -= 1;
        if (held === 0) release();
      });
      this.#inbox.news(channelId);
    }
  }

  /** What is new in a channel since the last call. */
  async *catchUp(channelId: string): AsyncGenerator<ChannelEventView> {
    for (;;) {
      const position = this.#positions.get(channelId);
      if (position === undefined) return;
      const events = await this.#scope.hub.after(channelId, position);
      if (events.length === 0) return;
      for (const event of events) {
        // Access may have been taken away while the caller was slow to read.
        if (!this.#positions.has(channelId)) return;
        this.#positions.set(channelId, event.event_id);
        yield event;
      }
    }
  }

  close(): void {
    for (const release of this.#releases.values()) release();
    this.#releases.clear();
  }
}
