import { once } from 'node:events';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';
import { listenBySocket } from './listen.ts';

/**
 * Connections that send more than a client would: each is closed before it costs much, and other connections
 * are not affected.
 */

const server = await startServer();
afterAll(() => server.close());
const owner = await signUp(server, 'Owner');
const base = `${server.url}/ws/socket.io/?EIO=4&transport=polling`;

const SEPARATOR = '\x1e';
const post = (sid: string, packets: string[]) =>
  fetch(`${base}&sid=${sid}`, {
    method: 'POST',
    body: packets.join(SEPARATOR),
    headers: { 'content-type': 'text/plain' },
  });
const handshake = async (): Promise<string> =>
  JSON.parse((await (await fetch(base)).text()).slice(1)).sid as string;

const named = `40${JSON.stringify({ token: owner.token })}`;

it.each<[string, string[]]>([
  ['connects twice without credentials', ['40', '40']],
  ['connects twice before it is admitted', [named, named]],
  ['connects twice and names the namespace', ['40/,', '40/']],
  ['connects ten thousand times in one body', Array(10_000).fill('40')],
  ['asks for five thousand other namespaces', Array(5_000).fill('40/other,')],
  ['sends ten thousand pongs', Array(10_000).fill('3')],
])('a connection that %s is closed', async (_what, packets) => {
  const other = await listenBySocket(server.url, owner.token, { auth: { events: 'envelope' } });
  const sid = await handshake();
  await post(sid, packets).catch(() => {});
  expect((await fetch(`${base}&sid=${sid}`)).status).toBe(400);
  expect(await other.socket.timeout(60_000).emitWithAck('heartbeat', {})).toBeUndefined();
  other.close();
});

it('an admitted connection that sends three thousand events is closed', async () => {
  const sid = await handshake();
  await post(sid, [named]);
  expect(await (await fetch(`${base}&sid=${sid}`)).text()).toMatch(/^40\{"sid":/);
  await post(sid, Array(3_000).fill('42["heartbeat",{}]')).catch(() => {});
  expect((await fetch(`${base}&sid=${sid}`)).status).toBe(400);
});

it('a client that floods is told that the server closed it, and does not reconnect by itself', async () => {
  const { socket } = await listenBySocket(server.url, owner.token, { reconnection: true });
  const ended = new Promise((resolve) => socket.once('disconnect', resolve));
  for (let sent = 0; sent < 1_000; sent += 1) socket.emit('heartbeat', {});
  expect(await ended).toBe('io server disconnect');
  expect(socket.active).toBe(false);
});

it('a second connection to the namespace is refused over WebSocket too', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws/socket.io/?EIO=4&transport=websocket`);
  await once(socket, 'open');
  socket.send(named);
  socket.send(named);
  await once(socket, 'close');
});

it('a connection that asks for another namespace first can still join the main one', async () => {
  const sid = await handshake();
  await post(sid, ['40/other,', named]);
  const heard: string[] = [];
  // One poll may return both.
  await until('both answers', async () => {
    heard.push(...(await (await fetch(`${base}&sid=${sid}`)).text()).split(SEPARATOR));
    return heard.length > 1;
  });
  expect(heard).toEqual([expect.stringMatching(/^44\/other,/), expect.stringMatching(/^40\{"sid":/)]);
});
