import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { grant, makeChannel } from '../support/channels.ts';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { openDoor } from './door.ts';
import { contentsOfEvents, listenBySocket } from './listen.ts';

const server = await startServer();
const [owner, reader] = await signUpAll(server, 'Owner', 'Reader');
const door = await openDoor(server);
afterAll(async () => {
  await door.close();
  await server.close();
});

const createChannel = () => makeChannel(server, owner, grant('*', 'read'));

describe('a client that stops reading', () => {
  const BIG = { content: 'x', data: { fill: 'd'.repeat(250_000) }, meta: { fill: 'm'.repeat(250_000) } };
  // More than the buffers of the kernel hold, and few enough that a slow machine sends them before the ping
  // times out.
  const POSTS = 40;

  /** A handmade WebSocket that does not read from the kernel. */
  async function openStalled(path: string, messages: string[], url = server.url) {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const state = { closed: false };
    socket.on('close', () => {
      state.closed = true;
    });
    socket.on('error', () => {});
    const webSocket = new WebSocket(`${url.replace('http', 'ws')}${path}`, {
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

  interface Stalled {
    socket: Socket;
    state: { closed: boolean };
    /** The messages that it has read. */
    seen: string[];
    channelId: string;
    /** The number of the last event before it stopped reading. */
    position: number;
  }

  /** Follows a channel of its own until it receives something, and then stops reading. */
  async function stall(name: string): Promise<Stalled> {
    const channelId = await createChannel();
    const [path, messages] = STALLED[name]?.() ?? ['', []];
    const { webSocket, socket, state } = await openStalled(path, messages);
    const seen: string[] = [];
    webSocket.on('message', (data) => seen.push(String(data)));
    let position = 1;
    await until('it to hear anything', async () => {
      await post(channelId, { content: 'first' });
      position += 1;
      return seen.some((text) => text.includes('"first"'));
    });
    socket.pause();
    return { socket, state, seen, channelId, position };
  }

  const post = (channelId: string, body: object) =>
    server.call(`POST /channels/${channelId}/messages/post`, { token: owner.token, body });
  const numbersAfter = (position: number) => Array.from({ length: POSTS }, (_, n) => position + 1 + n);

  it('is waited for at the tRPC door, and gets the rest when it reads again', async () => {
    const { socket, state, seen, channelId, position } = await stall('tRPC');
    for (let n = 0; n < POSTS; n += 1) await post(channelId, BIG);
    socket.resume();
    const big = () => seen.filter((text) => text.includes('"fill"'));
    await until('the rest', () => big().length === POSTS);
    expect(big().map((text) => JSON.parse(text).result.data.data.event_id)).toEqual(numbersAfter(position));
    expect(state.closed).toBe(false);
    socket.destroy();
  });

  it('is told at the tRPC door that its channel was deleted, when it reads again', async () => {
    const { socket, seen, channelId } = await stall('tRPC');
    for (let n = 0; n < POSTS; n += 1) await post(channelId, BIG);
    await server.call(`DELETE /channels/${channelId}/delete`, { token: owner.token });
    socket.resume();
    const saw = (type: string) => seen.some((text) => text.includes(`"type":"${type}"`));
    await until(
      'the deletion, and the change of rights',
      () => saw('channel:deleted') && saw('access:updated'),
    );
    socket.destroy();
  });

  it('is cut at the Socket.IO door, and gets the rest when it comes back', async () => {
    const cut = async () =>
      (await scrape(server.url, owner.token)).value('parley_sockets_cut_total', { door: 'socketio' });
    const before = await cut();
    const { socket, state, seen, channelId, position } = await stall('Socket.IO');
    for (let n = 0; n < POSTS; n += 1) await post(channelId, BIG);
    // The kernel still holds some data; the end of the stream shows only after reading it.
    socket.resume();
    await until('the end', () => state.closed);
    expect(seen.filter((text) => text.includes('"fill"')).length).toBeLessThan(POSTS);
    expect(await cut()).toBe(before + 1);

    const auth = { last_event_ids: { [channelId]: position }, events: 'envelope' };
    const back = await listenBySocket(server.url, reader.token, { auth });
    await until('the rest', () => back.enveloped.length === POSTS);
    expect(back.enveloped.map(({ event_id }) => event_id)).toEqual(numbersAfter(position));
    back.close();
  });

  /** Transient notices of 20 KB, like those of a model's reply, with time to send each handful. */
  async function passNotices(channelId: string, count: number, mark = 'many') {
    for (let n = 1; n <= count; n += 1) {
      door.bus.publish('channel.notice', {
        to: { channelId },
        notice: {
          channel_id: channelId,
          message_id: null,
          data: { type: 'message:delta', data: { n, mark, text: 't'.repeat(20_000) } },
          user: { id: owner.id, name: 'Owner', role: 'admin' },
        },
      });
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it.each(['tRPC', 'Socket.IO'])('does not make notices pile up at the %s door', async (name) => {
    const NOTICES = 2000;
    const channelId = await createChannel();
    const [path, messages] = STALLED[name]?.() ?? ['', []];
    const { webSocket, socket, state } = await openStalled(path, messages, door.url);
    const seen: string[] = [];
    webSocket.on('message', (data) => seen.push(String(data)));
    const told = () => seen.filter((text) => text.includes('message:delta')).length;
    await until('it to hear anything', async () => {
      await passNotices(channelId, 1);
      return told() > 0;
    });
    socket.pause();
    await passNotices(channelId, NOTICES);
    const before = told();
    // The check for unread data runs now and then; a client that reads again before it is not cut.
    if (name === 'Socket.IO') await until('it to be cut', () => door.hub.size === 0);
    socket.resume();
    if (name === 'Socket.IO') {
      await until('the end', () => state.closed);
      expect(told() - before).toBeLessThan(NOTICES / 2);
      return;
    }
    await until('it to receive new notices', async () => {
      await passNotices(channelId, 1, 'now');
      return JSON.parse(seen.at(-1) ?? '{}').result?.data?.notice?.data?.data?.mark === 'now';
    });
    expect(told() - before).toBeLessThan(NOTICES / 2);
    expect(state.closed).toBe(false);
    socket.destroy();
  });

  it.each(['tRPC', 'Socket.IO'])('is closed at the %s door when its session ends', async (name) => {
    const channelId = await createChannel();
    for (let n = 0; n < POSTS; n += 1) await post(channelId, BIG);
    const replay: Record<string, [path: string, ...messages: object[]]> = {
      tRPC: [
        '/trpc?connectionParams=1',
        { method: 'connectionParams', data: { token: reader.token } },
        {
          id: 1,
          method: 'subscription',
          params: { path: 'channels.events', input: { channel_ids: [channelId], lastEventId: '0' } },
        },
      ],
      'Socket.IO': [
        '/ws/socket.io/?EIO=4&transport=websocket',
        { token: reader.token, last_event_ids: { [channelId]: 0 } },
      ],
    };
    const [path, ...messages] = replay[name] ?? [''];
    const prefix = name === 'tRPC' ? '' : '40';
    const texts = messages.map((message) => prefix + JSON.stringify(message));
    const { webSocket, socket } = await openStalled(path, texts, door.url);
    webSocket.on('message', (data) => {
      if (String(data).includes('"fill"')) socket.pause();
    });
    await until('the replay to begin', () => socket.isPaused());
    expect(door.hub.size).toBeGreaterThan(0);
    door.bus.publish('auth.revoked', { userId: reader.id, sessionId: null });
    await until('everything to be given back', () => door.hub.size === 0 && door.listeners() === 0);
    webSocket.terminate();
  });

  it('loses a right at the Socket.IO door while its missed events are sent', async () => {
    const [privateId, openId, longId] = [await createChannel(), await createChannel(), await createChannel()];
    for (let n = 0; n < POSTS; n += 1) await post(longId, BIG);
    const hello = { token: reader.token, events: 'envelope', last_event_ids: { [longId]: 0 } };
    const { webSocket, socket } = await openStalled('/ws/socket.io/?EIO=4&transport=websocket', [
      `40${JSON.stringify(hello)}`,
    ]);
    const seen: string[] = [];
    webSocket.on('message', (data) => {
      seen.push(String(data));
      if (seen.length === 3) socket.pause();
    });
    await until('the replay to begin', () => socket.isPaused());

    const control = await listenBySocket(server.url, reader.token, { auth: { events: 'envelope' } });
    const hears = (content: string) => contentsOfEvents(control.enveloped).includes(content);
    const body = { access_grants: [] };
    await server.call(`POST /channels/${privateId}/update`, { token: owner.token, body });
    let round = 0;
    await until('the right to be gone', async () => {
      round += 1;
      await post(privateId, { content: `probe ${round}` });
      await post(openId, { content: `sentinel ${round}` });
      await until('the sentinel', () => hears(`sentinel ${round}`));
      return !hears(`probe ${round}`);
    });
    await post(privateId, { content: 'secret' });
    await post(openId, { content: 'last' });
    socket.resume();
    await until('the last', () => seen.some((text) => text.includes('"last"')));
    expect(seen.filter((text) => text.includes('"secret"'))).toEqual([]);
    webSocket.terminate();
    control.close();
  });
});
