import { attend } from '../../auth/watch.ts';
import type { ChannelNoticeView } from '../../channelbase/channels.notices.schema.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { Item } from '../../core/subscription.ts';
import { CursorOutlet } from '../../events/cursor.outlet.ts';
import {
  type Cursor,
  CursorKeeper,
  formatCursor,
  parseCursor,
  SETTLED_MICROS,
  tagOf,
  toNanoseconds,
} from '../../events/cursor.ts';
import { readableStreams } from '../../events/readable.ts';
import { Subscriber } from '../../events/subscriber/subscriber.ts';
import { channelStream } from './events.kind.ts';
import { readClock, readRecentHeads } from './events.repository.ts';
import type { ChannelEventView, ChannelReloadView } from './events.schema.ts';

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
 * @throws bad_request for a cursor that this server has not given, rate_limited when the connection has too many, unauthenticated
 *   when the session ends, forbidden when a channel that was asked for may not be read (any more)
 */
export async function openEventStream(
  scope: Scope,
  { channel_ids, lastEventId }: StreamOptions,
): Promise<AsyncGenerator<StreamItem>> {
  const { actor, hub, log, request, reply, signal, sql } = scope;
  const connection = reply.outlet;
  if (!connection?.send) throw new AppError('method_not_allowed');
  const given = lastEventId ? parseCursor(lastEventId) : undefined;
  const nowMicros = await readClock(sql);
  const keeper = new CursorKeeper(given ?? (await cursorOf(scope, nowMicros)), nowMicros);
  const outlet = new CursorOutlet(connection, connection.send, keeper);
  const kinds = [hub.kind(channelStream(''))];
  const subscriber = new Subscriber({
    hub,
    outlet,
    start: keeper,
    log,
    connection: request.id,
    userId: actor.id,
    only: channel_ids?.map((id) => channelStream(id.toLowerCase())) ?? null,
    // Asking who the caller is notices another role, and a session that ended while notices were missed.
    askReadable: async (among) => readableStreams({ ...scope, actor: await scope.identify() }, kinds, among),
  });
  try {
    const recheck = () => void subscriber.recheck();
    const giveBack = attend(scope, { recheck, end: (failure) => subscriber.close(failure) });
    void outlet.ended.then(giveBack);
    signal?.addEventListener('abort', () => subscriber.close(), { once: true });
    if (signal?.aborted) subscriber.close();
    await subscriber.open();
  } catch (error) {
    subscriber.close(error);
    throw error;
  }
  keeper.keepAmong(subscriber.streams);
  return untilEnd(outlet, subscriber);
}

/** The iteration of a subscription whose items go out by the outlet: it starts them, and ends with the subscriber. */
// biome-ignore lint/correctness/useYield: the outlet sends the items past tRPC's loop.
async function* untilEnd(outlet: CursorOutlet, subscriber: Subscriber): AsyncGenerator<StreamItem> {
  try {
    outlet.start();
    const failure = await outlet.ended;
    if (failure !== undefined) throw failure;
  } finally {
    subscriber.close();
  }
}
