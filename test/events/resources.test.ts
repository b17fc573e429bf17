import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { ChannelNoticeView } from '../../src/channelbase/channels.notices.schema.ts';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { type Door, openDoor } from './door.ts';
import { listenBySocket, type SocketListener, subscribe } from './listen.ts';

/** Tests the cost of readers, and that nothing of them stays after they have gone in any way. */

let door: Door;
const CHANNELS = 10;

const server = await startServer();
const [owner, reader] = await signUpAll(server, 'Owner', 'Reader');

beforeAll(async () => {
  for (let n = 0; n < CHANNELS; n += 1) await createChannel();
  door = await openDoor(server);
});
afterAll(async () => {
  await door.close();
  await server.close();
});

const createChannel = () => makeChannel(server, owner, grant('*', 'read'));
const nothingIsLeft = () =>
  until('everything to be given back', () => door.hub.size === 0 && door.listeners() === 0).catch(() =>
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]),
  );

describe('nothing stays', () => {
  it('of Socket.IO clients that disconnected', async () => {
    const clients = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        listenBySocket(door.url, n % 2 ? owner.token : reader.token, {
          transport: n % 3 ? 'websocket' : 'polling',
        }),
      ),
    );
    await until('the channels to be followed', () => door.hub.size === CHANNELS);
    for (const client of clients) client.close();
    await nothingIsLeft();
  });

  it('of subscriptions over plain HTTP, which are refused', async () => {
    const headers = { authorization: `Bearer ${reader.token}` };
    // One more than an account may have.
    for (let n = 0; n < 101; n += 1) {
      const answer = await fetch(`${server.url}/trpc/channels.events?input={}`, { headers });
      expect(await answer.text()).toContain('method_not_allowed');
    }
    const subscription = await subscribe(server.url, reader.token);
    expect(subscription.failure).toBeUndefined();
    subscription.close();
  });

  it('of clients that disconnected while they were admitted', async () => {
    for (let round = 0; round < 20; round += 1) {
      const socket = new WebSocket(
        `${door.url.replace('http', 'ws')}/ws/socket.io/?EIO=4&transport=websocket`,
      );
      await once(socket, 'open');
      socket.send(`40${JSON.stringify({ token: reader.token })}`);
      if (round % 2) await once(socket, 'message');
      if (round % 3) await new Promise((resolve) => setImmediate(resolve));
      socket.terminate();
    }
    await nothingIsLeft();
  });

  it('of clients whose session ended', async () => {
    const clients = await Promise.all([
      listenBySocket(door.url, reader.token),
      subscribe(door.url, reader.token),
    ]);
    await until('the channels to be followed', () => door.hub.size === CHANNELS);
    door.bus.publish('auth.revoked', { userId: reader.id, sessionId: null });
    await nothingIsLeft();
    for (const client of clients) client.close();
  });

  it('of subscriptions that ended, lost their socket, or were refused', async () => {
    const ended = await subscribe(door.url, reader.token);
    const torn = await subscribe(door.url, owner.token);
    const nowhere = '018f0000-0000-7000-8000-000000000000';
    const refused = await subscribe(door.url, reader.token, { channel_ids: [nowhere] });
    expect(refused.failure).toBe('forbidden');
    await until('the channels to be followed', () => door.hub.size === CHANNELS);
    ended.close();
    for (let round = 1; round < 5; round += 1) {
      torn.tear();
      await until('it to come back', () => torn.starts > round);
    }
    torn.close();
    refused.close();
    await nothingIsLeft();
  });

  it('of subscriptions whose client disconnected before they started', async () => {
    for (let round = 0; round < 20; round += 1) {
      const socket = new WebSocket(`${door.url.replace('http', 'ws')}/trpc?connectionParams=1`);
      await once(socket, 'open');
      socket.send(JSON.stringify({ method: 'connectionParams', data: { token: reader.token } }));
      const params = { path: 'channels.events', input: {} };
      socket.send(JSON.stringify({ id: 1, method: 'subscription', params }));
      for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      socket.terminate();
    }
    await nothingIsLeft();
  });
});

describe('a limit', () => {
  /** A bare socket that subscribes with its own ids, with the latest answer for each. */
  async function openFollowing() {
    const socket = new WebSocket(`${door.url.replace('http', 'ws')}/trpc?connectionParams=1`);
    await once(socket, 'open');
    const answers = new Map<
      number,
      { result?: { type: string }; error?: { data: { error_code: string } } }
    >();
    socket.on('message', (data) => {
      const answer = JSON.parse(String(data));
      answers.set(answer.id, answer);
    });
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ method: 'connectionParams', data: { token: reader.token } });
    return {
      close: () => socket.close(),
      /** The answer: `started`, or the code of the refusal. */
      async follow(id: number) {
        send({ id, method: 'subscription', params: { path: 'channels.events', input: {} } });
        const { result, error } = await until('the answer', () => answers.get(id));
        return result?.type ?? error?.data.error_code;
      },
      async stop(id: number) {
        send({ id, method: 'subscription.stop' });
        await until('its end', () => answers.get(id)?.result?.type === 'stopped');
      },
    };
  }
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  it('bounds the subscriptions of one connection', async () => {
    const { follow, stop, close } = await openFollowing();
    const answers = await Promise.all(upTo(101).map(follow));
    expect(answers.filter((answer) => answer === 'started')).toHaveLength(100);
    expect(answers.filter((answer) => answer !== 'started')).toEqual(['rate_limited']);
    await stop(1);
    expect(await follow(102)).toBe('started');
    close();
    await nothingIsLeft();
  });

  it('bounds the subscriptions of one account on all its connections', async () => {
    const sockets = [await openFollowing(), await openFollowing(), await openFollowing()];
    for (const { follow } of sockets.slice(0, 2)) {
      expect(new Set(await Promise.all(upTo(100).map(follow)))).toEqual(new Set(['started']));
    }
    expect(await sockets[2]?.follow(1)).toBe('rate_limited');
    const ofAnother = await subscribe(door.url, owner.token);
    expect(ofAnother.failure).toBeUndefined();
    await sockets[0]?.stop(1);
    expect(await sockets[2]?.follow(2)).toBe('started');
    for (const one of [...sockets, ofAnother]) one.close();
    await nothingIsLeft();
  });

  it('bounds the connections of one account with tRPC subscriptions', async () => {
    const follow = () => subscribe(door.url, reader.token);
    const admitted = await Promise.all(Array.from({ length: 100 }, follow));
    expect(admitted.map(({ failure }) => failure).filter(Boolean)).toEqual([]);
    const [refused, ofAnother] = [await follow(), await subscribe(door.url, owner.token)];
    expect([refused.failure, ofAnother.failure]).toEqual(['rate_limited', undefined]);

    admitted.pop()?.close();
    await until('a place', async () => {
      const next = await follow();
      admitted.push(next);
      return next.failure === undefined;
    });
    for (const one of [...admitted, refused, ofAnother]) one.close();
    await nothingIsLeft();
  });

  it('bounds the Socket.IO connections of one account', async () => {
    const small = await openDoor(server, { maxSockets: 3 });
    try {
      const listen = (person: Person) => listenBySocket(small.url, person.token);
      const admitted: SocketListener[] = [];
      for (let n = 0; n < 3; n += 1) {
        const listener = await listen(reader);
        // When the join is answered, the socket is admitted.
        await listener.socket.emitWithAck('user-join', { auth: { token: reader.token } });
        admitted.push(listener);
      }
      expect((await listen(reader)).refusal?.code).toBe('rate_limited');
      expect((await listen(owner)).refusal).toBeUndefined();
      admitted[0]?.close();
      await until('a place', async () => (await listen(reader)).refusal === undefined);
    } finally {
      await small.close();
    }
  });
});

describe('a change of readers', () => {
  it('costs one statement for all listeners at both doors, and no more for users without a change', async () => {
    const channelId = await createChannel();
    const people = [owner, reader, reader, owner];
    const subscriptions = await Promise.all(people.map(({ token }) => subscribe(door.url, token)));
    const listeners = await Promise.all(people.map(({ token }) => listenBySocket(door.url, token)));
    for (const [n, { socket }] of listeners.entries())
      await socket.emitWithAck('user-join', { auth: { token: people[n]?.token } });

    const notice: ChannelNoticeView = {
      channel_id: channelId,
      message_id: null,
      data: { type: 'typing', data: { typing: true } },
      user: { id: owner.id, name: 'Owner', role: 'admin' },
    };
    const tell = () => door.bus.publish('channel.notice', { to: { channelId }, notice });
    const hear = async (all: { notices: ChannelNoticeView[] }[]) => {
      for (const { notices } of all)
        await until('the notice', () => notices.some(({ data }) => data.type === 'typing'));
    };
    const statements = await recordStatements(async () => {
      door.bus.publish('channel.access', { channelId, since: 0 });
      // One door holds the notice until the check is answered; the other sends nothing of the channel
      // meanwhile.
      tell();
      await hear(subscriptions);
      tell();
      await hear(listeners);
    });
    const about = (words: string) => statements.filter((text) => text.includes(words));
    expect(about('select u.id from channel c join users u on u.id = any(')).toHaveLength(1);
    expect(about('select c.id from channel c where (')).toEqual([]);
    for (const one of [...subscriptions, ...listeners]) one.close();
    await nothingIsLeft();
  });
});
