import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { grant } from '../channels/people.ts';
import { until } from '../support/poll.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';
import { type Door, openDoor } from './door.ts';
import { listenBySocket, subscribe } from './listen.ts';

/** What readers cost, and that nothing of them is left when they have gone, however they went. */

let server: TestServer;
let owner: Person;
let reader: Person;
let door: Door;
const CHANNELS = 10;

beforeAll(async () => {
  server = await startServer();
  owner = await signUp(server, 'Owner');
  reader = await signUpAs(server, owner, 'Reader', 'user');
  for (let n = 0; n < CHANNELS; n += 1) await createChannel();
  door = await openDoor(server);
});
afterAll(async () => {
  await door.close();
  await server.close();
});

const createChannel = async (): Promise<string> => {
  const body = { name: 'x', access_grants: [grant('*', 'read')] };
  return (await server.call('POST /channels/create', { token: owner.token, body })).body.id;
};
const nothingIsLeft = () =>
  until('everything to be given back', () => door.hub.size === 0 && door.listeners() === 0).catch(() =>
    expect([door.hub.size, door.listeners()]).toEqual([0, 0]),
  );

describe('nothing is left', () => {
  it('of Socket.IO clients that said goodbye', async () => {
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

  it('of clients that left while they were being let in', async () => {
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

  it('of subscriptions that were ended, torn, or refused', async () => {
    const ended = await subscribe(door.url, reader.token);
    const torn = await subscribe(door.url, owner.token);
    const nowhere = '018f0000-0000-7000-8000-000000000000';
    const refused = await subscribe(door.url, reader.token, { channel_ids: [nowhere] });
    expect(refused.failure).toBe('forbidden');
    expect(door.hub.size).toBe(CHANNELS);
    ended.close();
    for (let round = 1; round < 5; round += 1) {
      torn.tear();
      await until('it to come back', () => torn.starts > round);
    }
    torn.close();
    refused.close();
    await nothingIsLeft();
  });

  it('of subscriptions whose client left before they started', async () => {
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

describe('a reader that does not read', () => {
  const BIG = { content: 'x', data: { fill: 'd'.repeat(250_000) }, meta: { fill: 'm'.repeat(250_000) } };
  const POSTS = 80;

  /** A WebSocket by hand whose bytes nobody takes from the kernel. */
  async function openStalled(path: string, messages: string[]) {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const state = { closed: false };
    socket.on('close', () => {
      state.closed = true;
    });
    socket.on('error', () => {});
    const webSocket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`, {
      createConnection: () => socket,
    });
    webSocket.on('error', () => {});
    await once(webSocket, 'open');
    for (const message of messages) webSocket.send(message);
    return { webSocket, socket, state };
  }

  const STALLED: Record<string, () => [path: string, messages: string[]]> = {
    tRPC: () => [
      '/trpc?connectionParams=1',
      [
        JSON.stringify({ method: 'connectionParams', data: { token: reader.token } }),
        JSON.stringify({ id: 1, method: 'subscription', params: { path: 'channels.events', input: {} } }),
      ],
    ],
    'Socket.IO': () => [
      '/ws/socket.io/?EIO=4&transport=websocket',
      [`40${JSON.stringify({ token: reader.token, events: 'envelope' })}`],
    ],
  };

  it.each(Object.keys(STALLED))(
    'is cut at the %s door, and gets the rest when it comes back',
    async (name) => {
      const channelId = await createChannel();
      const [path, messages] = STALLED[name]?.() ?? ['', []];
      const { webSocket, socket, state } = await openStalled(path, messages);
      const seen: string[] = [];
      webSocket.on('message', (data) => seen.push(String(data)));
      const request = `POST /channels/${channelId}/messages/post`;
      const post = (body: object) => server.call(request, { token: owner.token, body });
      let position = 0;
      await until('it to hear anything', async () => {
        await post({ content: 'first' });
        position += 1;
        return seen.some((text) => text.includes('"first"'));
      });

      socket.pause();
      for (let n = 0; n < POSTS; n += 1) await post(BIG);
      // The kernel still holds what it took; only reading it shows the end of the stream.
      socket.resume();
      await until('the end', () => state.closed);
      expect(seen.filter((text) => text.includes('"fill"')).length).toBeLessThan(POSTS);

      const auth = { last_event_ids: { [channelId]: position }, events: 'envelope' };
      const back = await listenBySocket(server.url, reader.token, { auth });
      await until('the rest', () => back.enveloped.length === POSTS, 20_000);
      expect(back.enveloped.map(({ event_id }) => event_id)).toEqual(
        Array.from({ length: POSTS }, (_, n) => position + 1 + n),
      );
      back.close();
    },
  );
});
