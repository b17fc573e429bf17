import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { channelStream } from '../../src/channels/events/events.kind.ts';
import { pruneOldEvents } from '../../src/channels/events/events.retention.ts';
import { plannedAnew, type Sql } from '../../src/database/sql.ts';
import { transaction } from '../../src/database/transaction.ts';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';
import { openDoor } from './door.ts';
import { listenBySocket, type messageOf, subscribe } from './listen.ts';

/**
 * The log deletes old events. A reader that missed some of these is told to reload; other readers are not.
 */

let channelId: string;
const DAY_NS = 24 * 3600 * 1e9;

const server = await startServer();
const owner = await signUp(server, 'Owner');
const door = await openDoor(server);
afterAll(async () => {
  await door.close();
  await server.close();
});
beforeEach(async () => {
  channelId = (await call('POST /channels/create', { name: 'x' })).id;
});

const call = async (request: string, body?: unknown) =>
  (await server.call(request, { token: owner.token, body })).body;
const post = (content: string) => call(`POST /channels/${channelId}/messages/post`, { content });
/** The door gets no notice of this post, only the log. */
async function postUnheard(content: string): Promise<void> {
  await post(content);
  door.tellGap();
}
const cursorNow = async (): Promise<string> => (await call('GET /channels/events/cursor')).cursor;
const newestEvent = async (): Promise<number> => {
  const [row] = await server.database.query<{ last: number }>(
    'select last_event::int as last from channel where id = $1',
    [channelId],
  );
  return row?.last ?? 0;
};

/** Makes the events up to this one older than the retention time, and prunes the log. */
async function forget(upTo: number, sql: Sql = door.parts.sql): Promise<void> {
  const ageing = plannedAnew<never, { channelId: string; by: number; upTo: number }>(
    'update channel_event set created_at = created_at - :by::bigint where channel_id = :channelId and id <= :upTo',
  );
  await sql.rows(ageing, { channelId, by: 40 * DAY_NS, upTo });
  await pruneOldEvents(sql, 30);
}
const kept = async () =>
  server.database.query<{ id: number }>(
    'select id::int from channel_event where channel_id = $1 order by id',
    [channelId],
  );
const contents = (events: { event: Parameters<typeof messageOf>[0] }[]) =>
  events.flatMap(({ event }) => ('content' in event.data.data ? [event.data.data.content] : []));

describe('an event older than the retention time', () => {
  it('is deleted, and no other; the numbers go on without a gap', async () => {
    for (const content of ['1', '2', '3']) await post(content);
    const upTo = (await newestEvent()) - 1;
    await forget(upTo);
    expect(await kept()).toEqual([{ id: upTo + 1 }]);
    const [row] = await server.database.query<{ pruned: number }>(
      'select pruned_event::int as pruned from channel where id = $1',
      [channelId],
    );
    expect(row?.pruned).toBe(upTo);
    await post('4');
    expect((await kept()).at(-1)).toEqual({ id: upTo + 2 });
  });

  it('is deleted in batches, also by several processes at once', async () => {
    await server.database.query(
      `insert into channel_event (channel_id, id, type, actor, data, created_at)
       select $1, n, 'message', '{}', '{}', n from generate_series(1001, 3500) n`,
      [channelId],
    );
    await server.database.query('update channel set last_event = 3500 where id = $1', [channelId]);
    await Promise.all([pruneOldEvents(door.parts.sql, 30), pruneOldEvents(door.parts.sql, 30)]);
    await pruneOldEvents(door.parts.sql, 30);
    const left = await kept();
    expect(left.filter(({ id }) => id > 1000)).toEqual([]);
  });
});

/** What both doors deliver to a reader that continues after an event of the channel. */
async function goOn(lastEventId: string, number: number) {
  const auth = { last_event_ids: { [channelId]: number } };
  const socket = await listenBySocket(door.url, owner.token, { auth });
  const subscription = await subscribe(door.url, owner.token, { channel_ids: [channelId], lastEventId });
  return {
    socket,
    subscription,
    close() {
      socket.close();
      subscription.close();
    },
  };
}

describe('a reader that comes back', () => {
  let cursors: string[];
  let first: number;

  /** Posts five messages; `cursors[n]` is the position after the n-th, whose number is `first + n`. */
  beforeEach(async () => {
    await post('0');
    const follower = await subscribe(server.url, owner.token, { channel_ids: [channelId], lastEventId: '0' });
    for (const content of ['1', '2', '3', '4']) await post(content);
    await until('the events', () => contents(follower.items).length === 5);
    const posts = follower.items.filter(({ event }) => event.data.type === 'message');
    first = posts[0]?.event.event_id ?? 0;
    cursors = posts.map(({ id }) => id);
    follower.close();
  });

  it.each([
    // [last event seen, last event pruned, whether a reload is sent, what follows]
    [0, 2, true, ['3', '4', 'live']],
    [1, 2, true, ['3', '4', 'live']],
    // Pruned exactly up to the position of the reader: nothing is missing.
    [2, 2, false, ['3', '4', 'live']],
    [3, 2, false, ['4', 'live']],
    [3, 4, true, ['live']],
    [4, 4, false, ['live']],
  ])('after event %i, when events up to %i are deleted', async (seen, forgotten, isReload, follows) => {
    await forget(first + forgotten);
    const { socket, subscription, close } = await goOn(cursors[seen] ?? '', first + seen);
    await postUnheard('live');
    await until('the live one', () => contents(subscription.items).includes('live'));
    await until('the live one by socket', () =>
      contents(socket.enveloped.map((event) => ({ event }))).includes('live'),
    );
    expect(contents(subscription.items)).toEqual(follows);
    expect(contents(socket.enveloped.map((event) => ({ event })))).toEqual(follows);
    const reload = { event_id: first + forgotten, channel_id: channelId, message_id: null };
    expect(subscription.reloads).toMatchObject(isReload ? [reload] : []);
    expect(socket.reloads).toMatchObject(isReload ? [reload] : []);
    close();
  });

  it('is told once to reload: the position after a reload is like any other', async () => {
    await forget(first + 4);
    const one = await subscribe(door.url, owner.token, {
      channel_ids: [channelId],
      lastEventId: cursors[0] ?? '',
    });
    await until('the reload', () => one.reloads.length === 1);
    for (let round = 1; round < 4; round += 1) {
      one.tear();
      await until('it to come back', () => one.starts > round);
    }
    await postUnheard('live');
    await until('the live one', () => contents(one.items).includes('live'));
    expect(one.reloads).toHaveLength(1);
    one.close();
  });

  it('with only a time is told to reload when a later event is deleted', async () => {
    const now = await cursorNow();
    await forget(first + 4);
    const [at] = await server.database.query<{ micros: string }>(
      'select (pruned_at / 1000)::text as micros from channel where id = $1',
      [channelId],
    );
    const late = await subscribe(door.url, owner.token, {
      channel_ids: [channelId],
      lastEventId: at?.micros ?? '',
    });
    const early = await subscribe(door.url, owner.token, {
      channel_ids: [channelId],
      lastEventId: `${Number(at?.micros) - 1}`,
    });
    const current = await subscribe(door.url, owner.token, { channel_ids: [channelId], lastEventId: now });
    await postUnheard('live');
    for (const one of [late, early, current]) {
      await until('the live one', () => contents(one.items).includes('live'));
      one.close();
    }
    expect([late, early, current].map(({ reloads }) => reloads.length)).toEqual([0, 1, 0]);
  });

  it('after a restored backup is told to reload, and continues with the restored events', async () => {
    const [four] = cursors.slice(4);
    await server.database.query('delete from channel_event where channel_id = $1 and id > $2', [
      channelId,
      first + 1,
    ]);
    await server.database.query('update channel set last_event = $2 where id = $1', [channelId, first + 1]);
    const restored = await openDoor(server);
    const auth = { last_event_ids: { [channelId]: first + 4 } };
    const socket = await listenBySocket(restored.url, owner.token, { auth });
    const subscription = await subscribe(restored.url, owner.token, {
      channel_ids: [channelId],
      lastEventId: four ?? '',
    });
    const reload = { event_id: first + 1, channel_id: channelId };
    await until('the reloads', () => socket.reloads.length > 0 && subscription.reloads.length > 0);
    expect([socket.reloads, subscription.reloads]).toMatchObject([[reload], [reload]]);
    await post('again');
    restored.tellGap();
    await until('the post', () => contents(subscription.items).includes('again'));
    socket.close();
    subscription.close();
    await restored.close();
  });
});

describe('a log that is pruned while it is read', () => {
  it('sends a reload in place of the deleted events', async () => {
    for (let n = 0; n < 10; n += 1) await post(`${n}`);
    const last = await newestEvent();
    const position = last - 10;
    const page = await door.hub.after(channelStream(channelId), position, 2);
    await forget(last - 2);
    const rest = await door.hub.after(channelStream(channelId), position + 2, 10);
    expect(page.map(({ number }) => number)).toEqual([position + 1, position + 2]);
    expect(rest.map(({ number, body }) => [number, body.data.type])).toEqual([
      [last - 2, 'reload'],
      [last - 1, 'message'],
      [last, 'message'],
    ]);
  });

  it('sends a reload to connected clients when the process got no notice of the events', async () => {
    await post('as all the others');
    const socket = await listenBySocket(door.url, owner.token);
    await socket.socket.emitWithAck('user-join', { auth: { token: owner.token } });
    const subscription = await subscribe(door.url, owner.token, { channel_ids: [channelId] });
    const first = await newestEvent();
    const last = first + 5;
    // In one transaction, since the door may read the log by itself in between.
    await transaction(door.parts, async (sql) => {
      const skipping = plannedAnew<
        never,
        { channelId: string; first: number; last: number }
      >(`with missing as (
          insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
          select channel_id, n, type, message_id, actor, data, created_at + n
            from channel_event, generate_series(:first + 1, :last) n where channel_id = :channelId and id = :first)
        update channel set last_event = :last where id = :channelId`);
      await sql.rows(skipping, { channelId, first, last });
      await forget(last - 1, sql);
    });
    const heard = () =>
      socket.reloads.length + contents(socket.enveloped.map((event) => ({ event }))).length > 1 &&
      subscription.reloads.length + contents(subscription.items).length > 1;
    await until('the remaining events', heard);
    expect(socket.reloads).toMatchObject([{ channel_id: channelId, event_id: last - 1 }]);
    expect(subscription.reloads).toMatchObject([{ channel_id: channelId, event_id: last - 1 }]);
    socket.close();
    subscription.close();
  });
});
