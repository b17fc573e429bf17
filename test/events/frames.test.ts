import { once } from 'node:events';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';

/**
 * The tRPC door makes its own WebSocket frames for events: they must arrive whole with any content and for
 * any receiver.
 */

const server = await startServer();
afterAll(() => server.close());
const owner = await signUp(server, 'Owner');

interface Frame {
  id: number | string;
  result?: {
    type: string;
    id?: string;
    data?: { id: string; data: { data: { data: { content?: string } } } };
  };
}

it('frames reach two calls of one connection, with texts of any length and script', async () => {
  const { id: channelId } = (
    await server.call('POST /channels/create', { token: owner.token, body: { name: 'x' } })
  ).body;
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/trpc?connectionParams=1`);
  await once(socket, 'open');
  const frames: Frame[] = [];
  socket.on('message', (data, isBinary) => {
    expect(isBinary).toBe(false);
    frames.push(JSON.parse(String(data)));
  });
  const send = (message: object) => socket.send(JSON.stringify(message));
  send({ method: 'connectionParams', data: { token: owner.token } });
  const calls = [1, 'zweite "Ansage"'];
  const params = { path: 'channels.events', input: { channel_ids: [channelId] } };
  for (const id of calls) send({ id, method: 'subscription', params });
  const started = () => frames.filter(({ result }) => result?.type === 'started');
  await until('both to start', () => started().length === calls.length);

  // Frames above 65,535 bytes have another header, and multi-byte characters change the length.
  const contents = ['ä', '🎉 "quoted" \\ \u2028', 'x'.repeat(64 * 1024), '語'.repeat(21_000), 'last'];
  for (const content of contents)
    await server.call(`POST /channels/${channelId}/messages/post`, { token: owner.token, body: { content } });
  for (const call of calls) {
    const heard = () =>
      frames
        .flatMap(({ id, result }) => (id === call && result?.id !== undefined ? [result] : []))
        .filter(({ data }) => data?.data.data.data.content !== undefined);
    await until('all', () => heard().length === contents.length);
    expect(heard().map(({ data }) => data?.data.data.data.content)).toEqual(contents);
    expect(heard().every(({ id, data }) => id !== undefined && id === data?.id)).toBe(true);
  }
  socket.close();
});
