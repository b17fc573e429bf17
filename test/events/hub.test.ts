import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateChannel } from '../../src/channels/channels.manage.ts';
import type { ChannelEventView } from '../../src/channels/events/events.schema.ts';
import { openEventStream } from '../../src/channels/events/events.stream.ts';
import { createScope } from '../../src/core/scope.ts';
import { grant } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { type Door, openDoor } from './door.ts';
import { listenBySocket, subscribe } from './listen.ts';

/*
 * A second set of doors on the same database hears nothing of the first by itself, as a process does whose notices are lost. What it
 * is told here, in which order and how often, is up to the test; what it hands out must be the log.
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

/** Follows the channel through the hub. */
async function follow(): Promise<number[]> {
  const handedOut: number[] = [];
  door.hub.onEvent(({ event_id, channel_id }) => {
    if (channel_id === channelId) handedOut.push(event_id);
  });
  await door.hub.watch([channelId]);
  return handedOut;
}

/** Posts, and takes what the other process would have been told of it. */
async function postUnheard(count: number): Promise<void> {
  const listener = await listenBySocket(server.url, owner.token, { auth: { events: 'envelope' } });
  for (let n = 0; n < count; n += 1) await post(`${n}`);
  await until('the events', () => listener.enveloped.length === count);
  told.push(...listener.enveloped);
  listener.close();
}

/** The owner's scope at the second door. */
async function openScope() {
  const { parts } = door;
  const credentials = { token: owner.token, via: 'bearer' } as const;
  const request = { id: '', ip: '', userAgent: '', sameOrigin: false };
  const identify = async () => parts.authenticate(credentials, request, () => []);
  const reply = { setSession: () => {} };
  return createScope({ parts, actor: await identify(), request, reply, identify, signal: undefined });
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe('notices between processes', () => {
  it('may be lost, doubled and in any order: what is handed out is the log, once', async () => {
    let head = 1;
    const mishaps = fc.array(fc.nat(9), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(mishaps, async (order) => {
        const handedOut = await follow();
        told = [];
        await postUnheard(10);
        for (const n of order) door.bus.publish('channel.event', told[n] as ChannelEventView);
        // The last one arrives at last; whatever is missing before it comes from the log.
        door.bus.publish('channel.event', told[9] as ChannelEventView);
        await until('all', () => handedOut.length >= 10);
        expect(handedOut).toEqual(numbers(head + 1, head + 10));
        head += 10;
        door.hub.unwatch([channelId]);
      }),
      { numRuns: 10 },
    );
  });

  it('may all be lost: the database is asked every few seconds', async () => {
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

  it('that were lost are looked for no longer than somebody follows the channel', async () => {
    await post('as all the others');
    await follow();
    // Whoever waits leaves in the middle of the first page of what is missing.
    const { promise, resolve } = Promise.withResolvers<void>();
    door.hub.onEvent(() => {
      door.hub.unwatch([channelId]);
      resolve();
    });
    // All at once: between two of them the door may look by itself.
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

  it('what stands in the log reads as what was told', async () => {
    const root = await post('root');
    await postUnheard(2);
    await call(`POST /channels/${channelId}/messages/post`, { content: 'reply', parent_id: root.id });
    await call(`DELETE /channels/${channelId}/messages/${root.id}/delete`);
    expect((await door.hub.after(channelId, 2)).slice(0, 2)).toEqual(told);
    expect(await door.hub.after(channelId, 0)).toHaveLength(7);
  });
});

describe('a right that is given elsewhere', () => {
  it('brings what came since, however late one hears of it', async () => {
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

it('another name is no change of access, and nobody has to look', async () => {
  const told: string[] = [];
  door.bus.subscribe('channel.access', (notice) => told.push(notice.channelId));
  const scope = await openScope();
  await updateChannel(scope, channelId, { name: 'another', meta: { a: 1 } });
  expect(told).toEqual([]);
  await updateChannel(scope, channelId, { access_grants: [] });
  expect(told).toEqual([channelId]);
});

describe('a right that is taken while somebody is let in', () => {
  it('is not kept', async () => {
    const reader = await signUpAs(server, owner, 'Reader', 'user');
    const access_grants = [grant(reader.id, 'read')];
    channelId = (await call('POST /channels/create', { name: 'x', access_grants })).id;
    let watched = false;
    const slow = await openDoor(server, {
      async aroundWatch(watch) {
        await call(`POST /channels/${channelId}/update`, { access_grants: [] });
        slow.bus.publish('channel.access', { channelId, since: 0 });
        // By the time that these are answered, the notice has been worked off.
        for (let n = 0; n < 10; n += 1) await call('GET /channels');
        await watch();
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

describe('who is far behind', () => {
  it('reads the log page by page, then what is at hand, without a seam', async () => {
    await follow();
    for (let n = 0; n < 30; n += 1) await Promise.all(numbers(1, 10).map((k) => post(`${n}.${k}`)));
    const read: number[] = [];
    for (;;) {
      const events = await door.hub.after(channelId, read.at(-1) ?? 0);
      if (events.length === 0) break;
      read.push(...events.map(({ event_id }) => event_id));
    }
    const head = door.hub.head(channelId) ?? 0;
    expect(read.length).toBeGreaterThanOrEqual(head);
    expect(read).toEqual(numbers(1, read.length));
  });
});

describe('a stream in the middle of what it missed', () => {
  async function openMidway() {
    for (let n = 0; n < 5; n += 1) await post(`${n}`);
    const scope = await openScope();
    const stream = await openEventStream(scope, { channel_ids: [channelId], lastEventId: '0' });
    expect((await stream.next()).value).toMatchObject({ event: { event_id: 1 } });
    return stream;
  }

  it('stops at once when the session ends', async () => {
    const stream = await openMidway();
    door.bus.publish('auth.revoked', { userId: owner.id, sessionId: null });
    await expect(stream.next()).rejects.toMatchObject({ code: 'unauthenticated' });
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]);
  });

  it('looks at access first when that has changed', async () => {
    const stream = await openMidway();
    await call(`DELETE /channels/${channelId}/delete`);
    door.bus.publish('channel.access', { channelId, since: 0 });
    await expect(stream.next()).rejects.toMatchObject({ code: 'forbidden' });
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]);
  });

  it('goes on where it was when access is as before', async () => {
    const stream = await openMidway();
    door.bus.publish('channel.access', { channelId, since: 0 });
    for (const event_id of [2, 3, 4, 5]) {
      expect((await stream.next()).value).toMatchObject({ event: { event_id } });
    }
    await stream.return(undefined);
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]);
  });
});
