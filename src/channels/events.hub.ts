import type { Logger } from 'pino';
import type { Sql } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { readEvents, readHeads } from './events.repository.ts';
import { ChannelEventView } from './messages.schema.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly hub: ChannelHub;
  }
}

/** How many events of a channel are kept at hand; who is further behind reads the log. */
const RECENT = 256;
/** How long an event may be overtaken by its successors before it is looked up. */
const OVERTAKEN_MS = 50;
/** How often a process on a shared bus asks the database whether it missed a notice. */
const SWEEP_MS = 5_000;
const LOG_PAGE = 200;

type Listener = (event: ChannelEventView) => void;

interface Watched {
  watchers: number;
  /** Number of the newest event that was handed out; unknown until first looked up. */
  head: number | undefined;
  /** The newest events, ending at `head`, without gaps. */
  recent: ChannelEventView[];
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
  /** Begins to follow channels; returns how to stop. Every event after the return is handed out. */
  watch(channelIds: Iterable<string>): Promise<() => void>;
  /** Calls back for each event of the followed channels, in order. */
  onEvent(listener: Listener): () => void;
  /** The number of the newest event that was handed out; undefined for a channel that is not followed. */
  head(channelId: string): number | undefined;
  /** The events after a number, oldest first; an empty answer means that there is nothing newer. */
  after(channelId: string, position: number): Promise<ChannelEventView[]>;
  /** Whether nothing older than some seconds can still be missing here. */
  readonly settled: boolean;
  close(): void;
}

export function createHub({ sql, bus, log }: { sql: Sql; bus: Bus; log: Logger }): ChannelHub {
  const channels = new Map<string, Watched>();
  const listeners = new Set<Listener>();

  function handOut(channelId: string, watched: Watched, event: ChannelEventView): void {
    watched.head = event.event_id;
    watched.recent.push(event);
    if (watched.recent.length > RECENT) watched.recent.shift();
    for (const listener of listeners) listener(event);
    const next = watched.early.get(event.event_id + 1);
    if (!next) return;
    watched.early.delete(next.event_id);
    handOut(channelId, watched, next);
  }

  function accept(event: ChannelEventView): void {
    const watched = channels.get(event.channel_id);
    if (!watched) return;
    if (watched.head === undefined || event.event_id > watched.head + 1) {
      watched.early.set(event.event_id, event);
      if (watched.head !== undefined) repairSoon(event.channel_id, watched);
      return;
    }
    if (event.event_id === watched.head + 1) handOut(event.channel_id, watched, event);
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
      for (const event of missing) accept(event);
      for (const number of watched.early.keys())
        if (number <= (watched.head ?? 0)) watched.early.delete(number);
      if (missing.length < LOG_PAGE) return;
    }
  }

  const failed = (error: unknown) =>
    log.warn({ err: error }, 'Reading the event log failed; it is tried again.');

  let sweptAt = Date.now();

  /** Compares all followed channels with the database, in one statement. */
  async function sweep(): Promise<void> {
    const began = Date.now();
    const heads = await readHeads(sql, [...channels.keys()]);
    for (const [channelId, head] of heads) {
      const watched = channels.get(channelId);
      if (watched?.head !== undefined && watched.head < head) await repair(channelId, watched);
    }
    sweptAt = began;
  }

  const unsubscribe = [
    bus.subscribe('channel.event', (event) => accept(ChannelEventView.parse(event))),
    bus.onGap(() => void sweep().catch(failed)),
  ];
  const timer = bus.shared ? setInterval(() => void sweep().catch(failed), SWEEP_MS) : undefined;
  timer?.unref();

  function release(channelIds: string[]): void {
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
    async watch(ids) {
      const channelIds = [...ids];
      const fresh: string[] = [];
      for (const channelId of channelIds) {
        const watched = channels.get(channelId);
        if (watched) watched.watchers += 1;
        else {
          channels.set(channelId, {
            watchers: 1,
            head: undefined,
            recent: [],
            early: new Map(),
            repair: undefined,
          });
        }
        if (channels.get(channelId)?.head === undefined) fresh.push(channelId);
      }
      // First follow, then ask where the channel is: what happens in between waits among the early ones.
      if (fresh.length > 0) {
        const heads = await readHeads(sql, fresh);
        for (const channelId of fresh) {
          const watched = channels.get(channelId);
          if (watched && watched.head === undefined) begin(channelId, watched, heads.get(channelId) ?? 0);
        }
      }
      return () => release(channelIds);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    head: (channelId) => channels.get(channelId)?.head,
    async after(channelId, position) {
      const watched = channels.get(channelId);
      const oldest = watched?.recent[0]?.event_id;
      if (watched?.head !== undefined && position >= watched.head) return [];
      if (watched && oldest !== undefined && oldest <= position + 1) {
        return watched.recent.slice(position + 1 - oldest);
      }
      return readEvents(sql, channelId, position, LOG_PAGE);
    },
    get settled() {
      return !bus.shared || Date.now() - sweptAt < 3 * SWEEP_MS;
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
