import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import { ready } from '../support/childSide.ts';
import { quantile } from '../support/rounds.ts';

/** A provider of the model `bench`, and a subscriber of its replies: one process, so both have one clock. */

export interface TokenTask {
  url: string;
  token: string;
  channelId: string;
  /** Replies side by side. */
  replies: number;
  /** Tokens of each reply. */
  tokens: number;
  everyMs: number;
}

export interface TokenResult {
  /** From the provider's write of a token to its arrival at the subscriber. */
  p50: number;
  p99: number;
  /** How many tokens arrived by a notice. */
  seen: number;
}

let task: TokenTask | undefined;

/** Each token is the time of its writing, in microseconds. */
async function writeTokens(response: ServerResponse, { tokens, everyMs }: TokenTask): Promise<void> {
  const write = (delta: object, finish_reason: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  // The replies do not write in step.
  await delay(Math.random() * everyMs);
  for (let n = 0; n < tokens; n += 1) {
    write({ content: `${Math.round(performance.now() * 1000)} ` });
    if (everyMs > 0) await delay(everyMs);
  }
  write({}, 'stop');
  response.end('data: [DONE]\n\n');
}

const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.url?.endsWith('/chat/completions') && task) void writeTokens(response, task);
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model', created: 1 }] }));
    }
  });
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));

interface Told {
  message_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: the subscriber looks only at what it needs
  data: { type: string; data: any };
}

function listen({ url, token }: TokenTask): Promise<Socket> {
  const socket = io(url, {
    path: '/ws/socket.io',
    transports: ['websocket'],
    auth: { token, events: 'envelope' },
  });
  return new Promise((resolve) => socket.once('connect', () => resolve(socket)));
}

async function post({ url, token, channelId }: TokenTask): Promise<void> {
  const answer = await fetch(`${url}/api/v1/channels/${channelId}/messages/post`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: '@bench' }),
  });
  if (!answer.ok) throw new Error(`The post answered ${answer.status}.`);
}

async function run(given: TokenTask): Promise<TokenResult> {
  task = given;
  const socket = await listen(given);
  const times: number[] = [];
  const newest = new Map<string, number>();
  const all = Promise.withResolvers<void>();
  let done = 0;
  socket.on('events:channel', ({ message_id: id, data: { type, data } }: Told) => {
    const now = performance.now() * 1000;
    if (type === 'message:update' && data.meta.done) {
      if (data.meta.error) all.reject(new Error(data.meta.error.message));
      done += 1;
      if (done === given.replies) all.resolve();
    }
    if (type !== 'message:delta') return;
    const before = newest.get(id) ?? 0;
    const written: number[] = data.content.trim().split(' ').map(Number);
    for (const at of written) if (at > before) times.push((now - at) / 1000);
    newest.set(id, written.at(-1) ?? before);
  });
  await Promise.all(Array.from({ length: given.replies }, () => post(given)));
  await all.promise;
  socket.disconnect();
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), seen: times.length };
}

ready<TokenTask>(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`, run);
