import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for earlier ones. Browsers send one at a time, other clients a few. */
const MAX_WAITING = 100;

type Request = [IncomingMessage, ServerResponse];

/**
 * Answers the requests of a connection one after the other. Node begins all pipelined requests (RFC 9112, section 9.3.2) at once, and
 * those of one read in the same turn of the event loop. A connection with too many is cut, since each takes memory.
 */
export function serializeRequests(server: Server): void {
  const answer = server.listeners('request') as ((...request: Request) => void)[];
  /** The waiting requests of connections that have one under way. */
  const queues = new WeakMap<Socket, Request[]>();

  function begin(socket: Socket, [request, response]: Request): void {
    response.once('close', () => {
      const waiting = queues.get(socket);
      if (waiting?.length) setImmediate(goOn, socket, waiting);
      else queues.delete(socket);
    });
    for (const listener of answer) listener.call(server, request, response);
  }

  function goOn(socket: Socket, waiting: Request[]): void {
    const next = waiting.shift();
    if (!next) return;
    if (socket.destroyed) waiting.length = 0;
    else begin(socket, next);
  }

  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const waiting = queues.get(socket);
    if (!waiting) {
      queues.set(socket, []);
      begin(socket, [request, response]);
    } else if (waiting.length >= MAX_WAITING) socket.destroy();
    else waiting.push([request, response]);
  });
}
