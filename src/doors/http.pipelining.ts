import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may be under way. Browsers send one, other clients a few. */
const MAX_PIPELINED = 100;

/**
 * Cuts connections that send very many requests without awaiting the answers (pipelining, RFC 9112, section 9.3.2): Node begins them
 * all, and each takes its memory and its place in the queue for the database.
 */
export function boundPipelining(server: Server): void {
  const underWay = new WeakMap<Socket, number>();
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (underWay.get(socket) ?? 0) + 1;
    underWay.set(socket, count);
    if (count > MAX_PIPELINED) socket.destroy();
    else response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
  });
}
