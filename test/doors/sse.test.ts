import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fastify from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import { type EventStream, openEventStream } from '../../src/doors/http/sse.ts';

/** Server-sent events to clients that wait long, or do not read. */

type Work = (stream: EventStream) => Promise<void>;
let work: Work;
const app = fastify();
app.get('/', async (_request, reply) => {
  await work(openEventStream(reply, ': idle\n\n', { idleMs: 40, stallMs: 200 }));
});
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as { port: number };
afterAll(() => app.close());

function ask(next: Work): Socket {
  work = next;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

describe('a stream of events', () => {
  it('begins by itself, and is kept open, while nothing is sent', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = ask(async (stream) => {
      await promise;
      stream.send('data: x\n\n');
      stream.end();
    });
    let text = '';
    for await (const piece of socket.setEncoding('utf8')) {
      text += piece;
      if (text.includes(': idle')) resolve();
      if (text.endsWith('0\r\n\r\n')) break;
    }
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(text).toContain('x-accel-buffering: no');
    expect(text.indexOf(': idle')).toBeLessThan(text.indexOf('data: x'));
  });

  it('waits for a client that is behind, and cuts it off when it reads nothing', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const socket = ask(async (stream) => {
      let sent = 0;
      while (!stream.isGone) {
        await stream.send(`data: ${'x'.repeat(64 * 1024)}\n\n`);
        sent += 1;
      }
      stream.end();
      resolve(sent);
    }).pause();
    // What fits into the buffers of the connection, and no more.
    expect(await promise).toBeLessThan(500);
    socket.resume();
    await once(socket, 'close');
  });

  it('ends for the sender when the client goes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = ask(async (stream) => {
      while (!stream.isGone) {
        await stream.send('data: x\n\n');
        await new Promise(setImmediate);
      }
      resolve();
    });
    await once(socket, 'data');
    socket.destroy();
    await promise;
  });
});
