import { io, type Socket } from 'socket.io-client';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { makeChannel } from '../support/channels.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { proxyDatabase } from '../support/proxy.ts';
import { signUpAll, startServer } from '../support/server.ts';

/** A server whose PostgreSQL goes away and comes back. */
const database = await createDatabase();
const proxy = await proxyDatabase(database.url);
const lines: { level: number; msg: string; [member: string]: unknown }[] = [];
const server = await startServer({
  database: { ...database, url: proxy.url },
  log: { write: (line) => void lines.push(JSON.parse(line)) },
});
afterAll(async () => {
  await server.close();
  await proxy.close();
  await database.drop();
});
const [ada] = await signUpAll(server, 'Ada');
const channelId = await makeChannel(server, ada);
const post = (content: string) => server.as(ada)(`POST /channels/${channelId}/messages/post`, { content });

const sockets: Socket[] = [];
afterEach(() => {
  proxy.restore();
  for (const socket of sockets.splice(0)) socket.disconnect();
});

/** README's snippet. */
function follow(token = ada.token) {
  const socket = io(server.url, { path: '/ws/socket.io', auth: { token }, forceNew: true });
  const heard: string[] = [];
  const trouble: string[] = [];
  socket.on('message', ({ data }) => heard.push(data.data.content));
  socket.on('disconnect', (reason) => trouble.push(reason));
  socket.on('connect_error', () => trouble.push('connect_error'));
  sockets.push(socket);
  return { socket, heard, trouble };
}

describe('a Socket.IO client', () => {
  it('that reconnects while the database is away tries again until it is let in', async () => {
    const { socket, heard, trouble } = follow();
    await until('the connection', () => socket.connected);
    proxy.cut();
    // As a network that breaks: the client comes back at once, and its session cannot be checked.
    let attempts = 0;
    socket.io.on('reconnect_attempt', () => {
      attempts += 1;
    });
    socket.io.engine.close();
    await until('several attempts', () => attempts > 2);
    expect(socket.active).toBe(true);
    proxy.restore();
    await until('the connection', () => socket.connected);
    await until('the server to hear of posts', async () => (await post('again')).status === 200);
    await until('the message', () => heard.includes('again'));
    expect(trouble).not.toContain('connect_error');
  });
});
