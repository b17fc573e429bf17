import { attend } from '../../auth/watch.ts';
import type { ChannelNoticeView } from '../../channelbase/channels.notices.schema.ts';
import { AppError } from '../../core/errors.ts';
import { derivedScope, type Scope } from '../../core/scope.ts';
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
import { channelStream, rightsNotice } from './events.kind.ts';
import { readClock, readRecentHeads } from './events.repository.ts';
import type { ChannelEventView, ChannelReloadView, RightsNoticeView } from './events.schema.ts';

export interface StreamOptions {
  /** Only these channels; otherwise all channels that the caller may read. */
  channel_ids?: string[] | undefined;
  /** The cursor to continue from. */
  lastEventId?: string | null | undefined;
}

/** Clients send the `id` of an event as `lastEventId` to continue after it. */
// Written out: the client's declarations would name an alias of a union, and must stand on their own.
export type StreamItem = Item<ChannelEventView | ChannelReloadView, ChannelNoticeView | RightsNoticeView>;

/**
 * A cursor for the current moment. A client that asks for it first misses no event, even if its first socket
 * breaks.
 */
export async function currentCursor(scope: Scope): Promise<string> {
  return formatCursor(await cursorOf(scope, await readClock(scope.sql)));
}

/**
 * The cursor after all events so far. An event has the time at which its statement began, and becomes visible
 * at its commit. So the moment of the cursor is one before which no event can still appear; younger events
 * are known by their numbers.
 */
async function cursorOf(scope: Scope, nowMicros: number): Promise<Cursor> {
  const momentMicros = nowMicros - SETTLED_MICROS;
  const heads = await readRecentHeads(scope.sql, scope.actor, toNanoseconds(momentMicros));
  return { momentMicros, positions: new Map([...heads].map(([id, head]) => [tagOf(id), head])) };
}

/**
 * The events of channels: first those after the cursor, then live events. Includes every event that is logged
 * after the promise resolves. Follows changes of the caller's access, and ends with the session. A channel
 * that becomes readable again continues from the cursor.
 *
 * @throws bad_request for a cursor that this server did not create, rate_limited if the connection has too
 *   many streams, unauthenticated if the session ends, forbidden if the caller may not read a requested
 *   channel
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
    // Identifies the caller again, because a notice about a new role or an ended session may have been lost.
    rightsNotice: () => rightsNotice(actor),
    askReadable: async (among) =>
      readableStreams(derivedScope(scope, { actor: await scope.identify() }), kinds, among),
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

/**
 * The iteration of a subscription whose items the outlet sends. It starts the outlet, and ends with the
 * subscriber.
 */
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
