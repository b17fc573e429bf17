import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateChannel } from '../../src/channels/channels.manage.ts';
import { channelStream } from '../../src/channels/events/events.kind.ts';
import type { ChannelEventView } from '../../src/channels/events/events.schema.ts';
import { openEventStream } from '../../src/channels/events/events.stream.ts';
import { createScope } from '../../src/core/scope.ts';
import type { Outlet } from '../../src/core/subscription.ts';
import { grant } from '../support/channels.ts';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { type Door, openDoor } from './door.ts';
import { contentsOfEvents, listenBySocket, subscribe } from './listen.ts';

/*
 * A second set of doors on the same database gets no notices from the first, like a process whose notices are
 * lost. The tests decide which notices it gets, in which order and how often; it must deliver exactly the
 * log.
 */

let door: Door;
let channelId: string;
let told: ChannelEventView[];

const server = await startServer();
afterAll(() => server.close());
const owner = await signUp(server, 'Owner');
beforeEach(async () => {
  door = await openDoor(server);
  channelId = (await call('POST /channels/create', { name: 'x' })).id;
  told = [];
});
afterEach(() => door.close());

const call = async (request: string, body?: unknown) =>
  (await server.call(request, { token: owner.token, body })).body;
const post = (content: string) => call(`POST /channels/${channelId}/messages/post`, { content });

/** Follows the channel through the hub, until `leave`. */
async function follow(onEvent = () => {}) {
  const handedOut: number[] = [];
  const follower = {
    event({ number }: { number: number }) {
      handedOut.push(number);
      onEvent();
    },
    notice() {},
  };
  const streams = [channelStream(channelId)];
  await door.hub.follow(streams, follower);
  return { handedOut, leave: () => door.hub.unfollow(streams, follower) };
}

const bodiesAfter = async (position: number) =>
  (await door.hub.after(channelStream(channelId), position)).map(({ body }) => body);

/** Posts messages and records the notices that another process would get. */
async function postUnheard(count: number): Promise<void> {
  const listener = await listenBySocket(server.url, owner.token, { auth: { events: 'envelope' } });
  for (let n = 0; n < count; n += 1) await post(`${n}`);
  await until('the events', () => listener.enveloped.length === count);
  told.push(...listener.enveloped);
  listener.close();
}

/** The scope of the owner at the second door. @param outlet of a subscription */
async function openScope(outlet?: Outlet) {
  const { parts } = door;
  const credentials = { token: owner.token, via: 'bearer' } as const;
  const request = { id: '', ip: '', userAgent: '', sameOrigin: false };
  const identify = async () => parts.authenticate(credentials, request, () => []);
  const reply = { setSession: () => {}, ...(outlet && { outlet }) };
  return createScope({ parts, actor: await identify(), request, reply, identify, signal: undefined });
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe('notices between processes', () => {
  it('may be lost, repeated and in any order: the log is delivered once', async () => {
    let head = 1;
    const mishaps = fc.array(fc.nat(9), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(mishaps, async (order) => {
        const { handedOut, leave } = await follow();
        told = [];
        await postUnheard(10);
        for (const n of order) door.bus.publish('channel.event', told[n] as ChannelEventView);
        // The last notice arrives in the end; missing events before it are read from the log.
        door.bus.publish('channel.event', told[9] as ChannelEventView);
        await until('all', () => handedOut.length >= 10);
        expect(handedOut).toEqual(numbers(head + 1, head + 10));
        head += 10;
        leave();
      }),
      { numRuns: 10 },
    );
  });

  it('may all be lost: the database is read every few seconds', async () => {
    const subscription = await subscribe(door.url, owner.token);
    const listener = await listenBySocket(door.url, owner.token);
    await until('the channel to be followed', () => door.hub.size > 0);
    await postUnheard(3);
    await until('the events', () => subscription.items.length === 3 && listener.enveloped.length === 3);
    expect(listener.enveloped).toEqual(told);
    expect(subscription.items.map(({ event }) => event)).toEqual(told);
    subscription.close();
    listener.close();
  });

  it('that were lost are read only while the channel has followers', async () => {
    await post('as all the others');
    // The follower leaves in the middle of the first page of missing events.
    const { promise, resolve } = Promise.withResolvers<void>();
    const { leave } = await follow(() => {
      leave();
      resolve();
    });
    // In one statement, since the door may read the log by itself between two.
    await server.database.query(
      `with missing as (
         insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
         select channel_id, n, type, message_id, actor, data, created_at + n
           from channel_event, generate_series(3, 204) n where channel_id = $1 and id = 2)
       update channel set last_event = 204 where id = $1`,
      [channelId],
    );
    door.tellGap();
    await promise;
    const statements = await recordStatements(async () => {
      for (let n = 0; n < 20; n += 1) await call('GET /auths/');
    });
    expect(statements.filter((text) => text.includes('from channel_event')).length).toBeLessThan(2);
  });

  it('have the same content as the events of the log', async () => {
    const root = await post('root');
    await postUnheard(2);
    await call(`POST /channels/${channelId}/messages/post`, { content: 'reply', parent_id: root.id });
    await call(`DELETE /channels/${channelId}/messages/${root.id}/delete`);
    expect((await bodiesAfter(2)).slice(0, 2)).toEqual(told);
    expect(await bodiesAfter(0)).toHaveLength(7);
  });
});

describe('a right that is granted at another process', () => {
  it('delivers the events since then, however late the notice arrives', async () => {
    const subscription = await subscribe(door.url, owner.token);
    const listener = await listenBySocket(door.url, owner.token);
    await until('the first channel to be followed', () => door.hub.size > 0);
    channelId = (await call('POST /channels/create', { name: 'new' })).id;
    for (const content of ['1', '2', '3']) await post(content);
    door.bus.publish('channel.access', { channelId, since: 0 });
    await until('the events', () => subscription.items.length === 4 && listener.enveloped.length === 4);
    expect(listener.enveloped.map(({ event_id }) => event_id)).toEqual([1, 2, 3, 4]);
    expect(subscription.items.map(({ event }) => event)).toEqual(listener.enveloped);

    channelId = (await call('POST /channels/create', { name: 'newer' })).id;
    for (const content of ['1', '2', '3']) await post(content);
    door.bus.publish('channel.access', { channelId, since: 3 });
    await until('the event', () => listener.enveloped.length > 4);
    expect(listener.enveloped.slice(4).map(({ event_id }) => event_id)).toEqual([4]);
    await until('the event at the other door', () => subscription.items.length > 4);
    expect(subscription.items.slice(4).map(({ event }) => event.event_id)).toEqual([4]);
    subscription.close();
    listener.close();
  });
});

it('renaming a channel does not make other processes check access', async () => {
  const told: string[] = [];
  door.bus.subscribe('channel.access', (notice) => told.push(notice.channelId));
  const scope = await openScope();
  await updateChannel(scope, channelId, { name: 'another', meta: { a: 1 } });
  expect(told).toEqual([]);
  await updateChannel(scope, channelId, { access_grants: [] });
  expect(told).toEqual([channelId]);
});

describe('a right that is revoked while a socket is admitted', () => {
  it('is not kept', async () => {
    const reader = await signUpAs(server, owner, 'Reader', 'user');
    const access_grants = [grant(reader.id, 'read')];
    channelId = (await call('POST /channels/create', { name: 'x', access_grants })).id;
    let watched = false;
    const slow = await openDoor(server, {
      async aroundFollow(follow) {
        await call(`POST /channels/${channelId}/update`, { access_grants: [] });
        slow.bus.publish('channel.access', { channelId, since: 0 });
        // When these calls are answered, the notice has been handled.
        for (let n = 0; n < 10; n += 1) await call('GET /channels');
        await follow();
        watched = true;
      },
    });
    try {
      const listener = await listenBySocket(slow.url, reader.token);
      await until('the channel to be let go', () => watched && slow.hub.size === 0);
      expect(listener.ended).toBeUndefined();
      listener.close();
    } finally {
      await slow.close();
    }
  });
});

describe('a change of access by a process that is killed before it tells the others', () => {
  const setUp = async () => {
    const reader = await signUpAs(server, owner, `Reader-${channelId}`, 'user');
    await call(`POST /channels/${channelId}/update`, { access_grants: [grant(reader.id, 'read')] });
    const listeners = [
      await listenBySocket(door.url, reader.token, { auth: { events: 'envelope' } }),
      await subscribe(door.url, reader.token),
    ] as const;
    const [socket, subscription] = listeners;
    // When this is answered, the socket follows the channel.
    await socket.socket.emitWithAck('user-join', { auth: { token: reader.token } });
    const typesOf = (notices: { data: { type: string } }[]) => notices.map(({ data }) => data.type);
    return {
      contents: () => [
        contentsOfEvents(socket.enveloped),
        contentsOfEvents(subscription.items.map(({ event }) => event)),
      ],
      knowIt: () => listeners.every(({ notices }) => typesOf(notices).includes('access:updated')),
      close: () => listeners.forEach((one) => void one.close()),
    };
  };

  it('is seen with the event that is read from the log', async () => {
    const readers = await setUp();
    const witness = await listenBySocket(door.url, owner.token, { auth: { events: 'envelope' } });
    await call(`POST /channels/${channelId}/update`, { access_grants: [] });
    await post('after');
    await until('the message', () => contentsOfEvents(witness.enveloped).includes('after'));
    await until('the readers to know it', readers.knowIt);
    expect(readers.contents()).toEqual([[], []]);
    witness.close();
    readers.close();
  });

  it('is seen when the channel was deleted with its log', async () => {
    const readers = await setUp();
    await call(`DELETE /channels/${channelId}/delete`);
    await until('the readers to know it', readers.knowIt);
    expect(door.hub.size).toBe(0);
    readers.close();
  });
});

describe('the outcome of each event', () => {
  it('is logged at debug level, and counted', async () => {
    const lines: { stream: string; event: number; user: string; outcome: string; door: string }[] = [];
    const stranger = await signUpAs(server, owner, 'Stranger', 'user');
    const log = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const open = await openDoor(server, { log });
    const outcomes = (user: { id: string }, event: number) =>
      lines.filter((line) => line.event === event && line.user === user.id).map(({ outcome }) => outcome);
    const counted = async (outcome: string) =>
      (await scrape(server.url, owner.token)).value('parley_event_outcomes_total', { door: 'trpc', outcome });
    const before = { sent: await counted('sent'), held: await counted('held') };
    try {
      const subscription = await subscribe(open.url, owner.token);
      const unconcerned = await subscribe(open.url, stranger.token);
      await postUnheard(2);
      // This client got the second event from another process.
      const auth = { last_event_ids: { [channelId]: 3 } };
      const ahead = await listenBySocket(open.url, owner.token, { auth });
      await ahead.socket.emitWithAck('user-join', { auth: { token: owner.token } });
      const [first, second] = told as [ChannelEventView, ChannelEventView];
      open.bus.publish('channel.event', first);
      open.bus.publish('channel.access', { channelId, since: 0 });
      open.bus.publish('channel.event', second);
      await until('the events', () => subscription.items.length === 2);
      await until('the answer about access', () => outcomes(owner, 3).includes('sent'));
      expect(outcomes(owner, 2)).toEqual(expect.arrayContaining(['sent', 'already_had']));
      expect(outcomes(owner, 3)).toEqual(expect.arrayContaining(['held', 'sent']));
      expect(new Set(outcomes(stranger, 2))).toEqual(new Set(['not_readable']));
      expect(lines.find(({ outcome }) => outcome === 'sent')).toMatchObject({
        stream: channelStream(channelId),
        connection: expect.any(String),
        door: 'trpc',
      });
      const after = { sent: await counted('sent'), held: await counted('held') };
      expect([after.sent - before.sent, after.held - before.held]).toEqual([2, 1]);
      for (const one of [subscription, unconcerned, ahead]) one.close();
    } finally {
      await open.close();
    }
  });
});

describe('a subscriber far behind', () => {
  it('reads the log page by page and then the recent events, without a gap', async () => {
    await follow();
    for (let n = 0; n < 30; n += 1) await Promise.all(numbers(1, 10).map((k) => post(`${n}.${k}`)));
    const read: number[] = [];
    for (;;) {
      const events = await door.hub.after(channelStream(channelId), read.at(-1) ?? 0);
      if (events.length === 0) break;
      read.push(...events.map(({ number }) => number));
    }
    const head = door.hub.head(channelStream(channelId)) ?? 0;
    expect(read.length).toBeGreaterThanOrEqual(head);
    expect(read).toEqual(numbers(1, read.length));
  });
});

describe('a subscriber in the middle of its missed events', () => {
  /** A client that takes one event at each request. */
  async function openMidway() {
    for (let n = 0; n < 5; n += 1) await post(`${n}`);
    const sent: number[] = [];
    let room = 1;
    let drained = Promise.withResolvers<void>();
    const outlet: Outlet = {
      get full() {
        return sent.length >= room;
      },
      drained: async () => {
        if (sent.length >= room) await drained.promise;
      },
      send: (_kind, { text }) => void sent.push(JSON.parse(text).event_id),
    };
    const scope = await openScope(outlet);
    const stream = await openEventStream(scope, { channel_ids: [channelId], lastEventId: '0' });
    const end = stream.next().then(
      () => undefined,
      (error) => error.code,
    );
    await until('the first event', () => sent.length === 1);
    return {
      sent,
      end,
      goOn() {
        room += 1;
        drained.resolve();
        drained = Promise.withResolvers();
      },
    };
  }

  it('stops at once when the session ends', async () => {
    const { sent, end, goOn } = await openMidway();
    door.bus.publish('auth.revoked', { userId: owner.id, sessionId: null });
    goOn();
    expect(await end).toBe('unauthenticated');
    expect(sent).toEqual([1]);
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]);
  });

  it('checks access first when it has changed', async () => {
    const { sent, end, goOn } = await openMidway();
    await call(`DELETE /channels/${channelId}/delete`);
    door.bus.publish('channel.access', { channelId, since: 0 });
    goOn();
    expect(await end).toBe('forbidden');
    expect(sent).toEqual([1]);
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]);
  });

  it('continues when access is the same as before', async () => {
    const { sent, goOn } = await openMidway();
    door.bus.publish('channel.access', { channelId, since: 0 });
    for (const event_id of [2, 3, 4, 5]) {
      goOn();
      await until('the next event', () => sent.at(-1) === event_id);
    }
    expect(sent).toEqual([1, 2, 3, 4, 5]);
    door.bus.publish('auth.revoked', { userId: owner.id, sessionId: null });
    await until('everything to be given back', () => door.hub.size === 0 && door.listeners() === 0);
  });
});
