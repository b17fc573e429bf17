import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import type { Logger } from 'pino';
import type { Server } from 'socket.io';
import type { Worker } from '../../core/processes/workers.ts';
import { TimedResponse } from '../http/http.response.ts';

type Engine = Server['engine'];
/** Engine.IO has read the query by then. */
type SessionRequest = IncomingMessage & { _query: { sid?: string } };

/** As Engine.IO answers a session that it does not know: the client begins a new one. */
const UNKNOWN_SESSION = JSON.stringify({ code: 1, message: 'Session ID unknown' });
const OWNER = /^(\d{1,3})-/;

/**
 * A session of Engine.IO that polls, or changes from polling to WebSocket, is several requests, which may reach different workers.
 * The id of a session begins with the number of its worker, and the other workers pass its requests on through a Unix socket.
 */
export function shareSessions(engine: Engine, { number, folder }: Worker, log: Logger): () => void {
  const socketOf = (owner: string) => join(folder, `${owner}.socket`);
  engine.generateId = () => `${number}-${randomBytes(15).toString('base64url')}`;
  engine.use((incoming: SessionRequest, response: ServerResponse, next: () => void) => {
    const owner = OWNER.exec(incoming._query.sid ?? '')?.[1];
    if (owner === undefined || owner === String(number)) next();
    else passOn(incoming, response, socketOf(owner));
  });
  const server = createServer({ ServerResponse: TimedResponse });
  server.on('request', (incoming, response) => engine.handleRequest(incoming as never, response));
  server.on('upgrade', (incoming, socket, head) => engine.handleUpgrade(incoming as never, socket, head));
  server.on('error', (error) => log.warn({ err: error }, 'Polls of other workers cannot be received.'));
  // The file of a worker that was killed is in the way.
  rmSync(socketOf(String(number)), { force: true });
  server.listen({ path: socketOf(String(number)), exclusive: true });
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, socketPath: string): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ socketPath, method, path, headers });
  if (headers.upgrade) {
    joinSockets(onward, incoming.socket);
    return;
  }
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(400, { 'content-type': 'application/json' }).end(UNKNOWN_SESSION);
  });
  response.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

/** Passes on an upgrade: a client sends nothing more before its answer. */
function joinSockets(onward: ClientRequest, client: Duplex): void {
  onward.on('upgrade', ({ rawHeaders }, socket, head) => {
    const lines = ['HTTP/1.1 101 Switching Protocols'];
    for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    client.write(`${lines.join('\r\n')}\r\n\r\n`);
    client.write(head);
    // When one of the two ends in any way, so does the other.
    pipeline(socket, client, socket, () => {});
  });
  onward.on('response', () => client.destroy());
  onward.on('error', () => client.destroy());
  client.on('error', () => onward.destroy());
  onward.end();
}
