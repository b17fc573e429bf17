import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import type { Bus } from '../../events/bus.ts';
import { type AskReaders, createReaders } from './events.readers.ts';
import { readEvents, readHeads } from './events.repository.ts';
import { AddressedNotice, ChannelEventView, type LoggedView, reloadOf } from './events.schema.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly hub: ChannelHub;
  }
}

/** How many events of a channel are kept at hand, and how much text in them; who is further behind reads the log. */
const RECENT = 256;
const RECENT_CHARACTERS = 2 ** 20;
/** How long an event may be overtaken by its successors before it is looked up. */
const OVERTAKEN_MS = 50;
/** How often the database is asked whether a notice was missed, or never sent because its writer was cut off. */
const SWEEP_MS = 5_000;
const LOG_PAGE = 100;

/** With these the log forgets what a message said before, and so does what is kept at hand. */
const REWRITING: ReadonlySet<string> = new Set(['message:update', 'message:delete']);

type Listener = (event: LoggedView) => void;
type NoticeListener = (notice: AddressedNotice) => void;

interface Watched {
  watchers: number;
  /** Number of the newest event that was handed out; unknown until first looked up. */
  head: number | undefined;
  /** The newest events, ending at `head`, without gaps. */
  recent: ChannelEventView[];
  recentCharacters: number;
  /** Events that arrived before their predecessors. */
  early: Map<number, ChannelEventView>;
  repair: NodeJS.Timeout | undefined;
}

/**
 * Hands each channel's events to this process's subscribers in the order of their numbers, without gaps. Notices may be
 * late, overtaken or lost: what is missing comes from the log. Subscribers are told that there is news and read from where
 * they are, so a slow one costs no memory here.
 */
export interface ChannelHub {
  /** Begins to follow channels. Every event after the return is handed out, until as many `unwatch` as `watch`. */
  watch(channelIds: readonly string[]): Promise<void>;
  unwatch(channelIds: Iterable<string>): void;
  /** Calls back for each event of the followed channels, in order. */
  onEvent(listener: Listener): () => void;
  /** Calls back for each passing notice, whichever process it comes from. */
  onNotice(listener: NoticeListener): () => void;
  /** The number of the newest event that was handed out; undefined for a channel that is not followed. */
  head(channelId: string): number | undefined;
  /**
   * At most so many of the events after a number, oldest first; an empty answer means that there is nothing newer. Where the log
   * has forgotten some, a reload stands for them.
   */
  after(channelId: string, position: number, limit?: number): Promise<LoggedView[]>;
  /** Who of some users may read a channel, by one statement for all subscribers that ask at once. */
  readonly readers: AskReaders;
  /** The channels that are followed by somebody, but by no more than so many. */
  followed(mostWatchers: number): string[];
  /** Whether nothing older than some seconds can still be missing here. */
  readonly settled: boolean;
  /** How many channels are followed. */
  readonly size: number;
  close(): void;
}

export function createHub({ sql, bus, log }: { sql: Sql; bus: Bus; log: Logger }): ChannelHub {
  const channels = new Map<string, Watched>();
  const listeners = new Set<Listener>();
  const noticeListeners = new Set<NoticeListener>();

  /** Whether it is still this that follows a channel: who came when all others had left began anew. */
  const isFollowed = (channelId: string, watched: Watched) => channels.get(channelId) === watched;

  /** Hands out an event and those after it that came early. */
  function handOut(watched: Watched, first: ChannelEventView): void {
    for (let event: ChannelEventView | undefined = first; event; ) {
      watched.head = event.event_id;
      keepAtHand(watched, event);
      for (const listener of listeners) listener(event);
      const next = event.event_id + 1;
      event = watched.early.get(next);
      watched.early.delete(next);
    }
  }

  /** Goes on behind events that nobody can be told of any more. */
  function skipTo(watched: Watched, channelId: string, head: number): void {
    if (!isFollowed(channelId, watched) || watched.head === undefined || watched.head >= head) return;
    watched.head = head;
    watched.recent = [];
    watched.recentCharacters = 0;
    for (const listener of listeners) listener(reloadOf(channelId, head));
  }

  function accept(event: ChannelEventView): void {
    const watched = channels.get(event.channel_id);
    if (!watched) return;
    if (watched.head === undefined || event.event_id > watched.head + 1) {
      watched.early.set(event.event_id, event);
      if (watched.head !== undefined) repairSoon(event.channel_id, watched);
      return;
    }
    if (event.event_id === watched.head + 1) handOut(watched, event);
  }

  function repairSoon(channelId: string, watched: Watched): void {
    watched.repair ??= setTimeout(() => {
      watched.repair = undefined;
      if (watched.early.size > 0) void repair(channelId, watched).catch((error) => failed(error));
    }, OVERTAKEN_MS);
  }

  /** Reads what is missing behind the head from the log and hands it out. */
  async function repair(channelId: string, watched: Watched): Promise<void> {
    for (;;) {
      const { head } = watched;
      if (head === undefined) return;
      const missing = await readEvents(sql, channelId, head, LOG_PAGE);
      // Nobody may have waited for the answer: then this head stays where it is, and it would be asked for ever.
      if (!isFollowed(channelId, watched)) return;
      // Only a process that heard nothing for as long as events are kept can have missed what is pruned.
      const [oldest] = missing;
      if (oldest && oldest.event_id > head + 1) skipTo(watched, channelId, oldest.event_id - 1);
      for (const event of missing) accept(event);
      for (const number of watched.early.keys()) {
        if (number <= (watched.head ?? 0)) watched.early.delete(number);
      }
      if (missing.length < LOG_PAGE) return;
    }
  }

  const failed = (error: unknown) =>
    log.warn({ err: error }, 'Reading the event log failed; it is tried again.');

  let sweptAt = Date.now();

  /** Compares all followed channels with the database, in one statement. */
  async function sweep(): Promise<void> {
    const began = Date.now();
    if (channels.size === 0) {
      sweptAt = began;
      return;
    }
    const heads = await readHeads(sql, [...channels.keys()]);
    for (const [channelId, head] of heads) {
      const watched = channels.get(channelId);
      if (watched?.head === undefined || watched.head >= head) continue;
      await repair(channelId, watched);
      skipTo(watched, channelId, head);
    }
    sweptAt = began;
  }

  const unsubscribe = [
    // Notices of this process have the type already; only what another one sent can have any other form.
    bus.subscribe('channel.event', (event) => accept(bus.shared ? ChannelEventView.parse(event) : event)),
    bus.subscribe('channel.notice', (message) => {
      const notice = bus.shared ? AddressedNotice.parse(message) : message;
      for (const listener of noticeListeners) listener(notice);
    }),
    bus.onGap(() => void sweep().catch(failed)),
  ];
  const timer = setInterval(() => void sweep().catch(failed), SWEEP_MS);
  timer.unref();

  function unwatch(channelIds: Iterable<string>): void {
    for (const channelId of channelIds) {
      const watched = channels.get(channelId);
      if (!watched) continue;
      watched.watchers -= 1;
      if (watched.watchers > 0) continue;
      clearTimeout(watched.repair);
      channels.delete(channelId);
    }
  }

  return {
    async watch(channelIds) {
      for (const channelId of channelIds) {
        const watched = channels.get(channelId);
        if (watched) watched.watchers += 1;
        else channels.set(channelId, newlyWatched());
      }
      const fresh = channelIds.filter((channelId) => channels.get(channelId)?.head === undefined);
      if (fresh.length === 0) return;
      // First follow, then ask where the channel is: what happens in between waits among the early ones.
      try {
        const heads = await readHeads(sql, fresh);
        for (const channelId of fresh) {
          const watched = channels.get(channelId);
          if (watched && watched.head === undefined) begin(channelId, watched, heads.get(channelId) ?? 0);
        }
      } catch (error) {
        unwatch(channelIds);
        throw error;
      }
    },
    unwatch,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onNotice(listener) {
      noticeListeners.add(listener);
      return () => noticeListeners.delete(listener);
    },
    head: (channelId) => channels.get(channelId)?.head,
    async after(channelId, position, limit = LOG_PAGE) {
      const watched = channels.get(channelId);
      const oldest = watched?.recent[0]?.event_id;
      if (watched?.head !== undefined && position >= watched.head) return [];
      if (watched && oldest !== undefined && oldest <= position + 1) {
        const first = position + 1 - oldest;
        return watched.recent.slice(first, first + limit);
      }
      const head = watched?.head ?? 0;
      const events = await readEvents(sql, channelId, position, limit);
      const next = events[0]?.event_id ?? head + 1;
      return next > position + 1 ? [reloadOf(channelId, next - 1), ...events] : events;
    },
    readers: createReaders(sql),
    followed: (mostWatchers) =>
      [...channels].flatMap(([channelId, { watchers }]) => (watchers <= mostWatchers ? [channelId] : [])),
    get settled() {
      return Date.now() - sweptAt < 3 * SWEEP_MS;
    },
    get size() {
      return channels.size;
    },
    close() {
      for (const end of unsubscribe) end();
      clearInterval(timer);
      for (const { repair: pending } of channels.values()) clearTimeout(pending);
      channels.clear();
    },
  };

  function begin(channelId: string, watched: Watched, head: number): void {
    watched.head = head;
    const early = [...watched.early.values()].sort((a, b) => a.event_id - b.event_id);
    watched.early.clear();
    for (const event of early) accept(event);
    if (watched.early.size > 0) repairSoon(channelId, watched);
  }
}

const newlyWatched = (): Watched => ({
  watchers: 1,
  head: undefined,
  recent: [],
  recentCharacters: 0,
  early: new Map(),
  repair: undefined,
});

function keepAtHand(watched: Watched, event: ChannelEventView): void {
  if (REWRITING.has(event.data.type)) {
    watched.recent = [];
    watched.recentCharacters = 0;
  }
  watched.recent.push(event);
  watched.recentCharacters += charactersOf(event);
  while (watched.recent.length > RECENT || watched.recentCharacters > RECENT_CHARACTERS) {
    const oldest = watched.recent.shift();
    if (!oldest) return;
    watched.recentCharacters -= charactersOf(oldest);
  }
}

/** About how much text an event holds. Most messages have neither data nor meta, and cost no serialisation. */
function charactersOf({ data, channel }: ChannelEventView): number {
  const messages = 'content' in data.data ? [data.data, data.data.reply_to_message] : [];
  const parts = messages.filter((message) => message !== null);
  const forms = [channel, ...parts].flatMap((part) => [part.data, part.meta]);
  return forms.reduce(
    (sum, form) => (form && Object.keys(form).length > 0 ? sum + JSON.stringify(form).length : sum),
    parts.reduce((sum, { content }) => sum + content.length, 0),
  );
}
