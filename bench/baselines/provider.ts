import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { childOptions, ready } from '../support/childSide.ts';

/** A provider of models: every stream gets a token in each period, and the streams get theirs one after the other. */
const { tokens, everyMs } = childOptions<{ tokens: number; everyMs: number }>();

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'small' };
const event = (members: object) => `data: ${JSON.stringify({ ...HEAD, ...members })}\n\n`;
const choice = (delta: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
const USAGE = { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens };
const FIRST = choice({ role: 'assistant', content: '' });
const TOKEN = choice({ content: ' token' });
const LAST = `${choice({}, 'stop')}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`;

/** The streams by their turn within the period. */
const turns: Map<ServerResponse, number>[] = Array.from({ length: everyMs }, () => new Map());
let opened = 0;
let turn = 0;

const server = createServer((request, response) => {
  request.resume();
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ object: 'list', data: [{ id: 'small', object: 'model' }] }));
  }
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST);
    const streams = turns[opened++ % everyMs];
    streams?.set(response, 0);
    response.on('close', () => streams?.delete(response));
  });
});

// The contenders take turns, and keep their connections meanwhile.
server.keepAliveTimeout = 600_000;

let dueAt = performance.now();
setInterval(() => {
  for (const now = performance.now(); dueAt < now; dueAt += 1) {
    turn = (turn + 1) % everyMs;
    const streams = turns[turn];
    for (const [response, sent] of streams ?? []) {
      streams?.set(response, sent + 1);
      if (sent < tokens) response.write(TOKEN);
      else {
        streams?.delete(response);
        response.end(LAST);
      }
    }
  }
}, 1);

server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
