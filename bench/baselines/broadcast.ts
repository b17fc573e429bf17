import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { WebSocketServer } from 'ws';
import { childOptions, ready } from '../support/childSide.ts';

/**
 * A bare broadcast: `POST /` with an event sends it to every socket, serialised once. `ws` sends the frame to
 * its clients in a loop; Socket.IO emits into a room.
 */
const { kind } = childOptions<{ kind: 'ws' | 'socketio' }>();
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  broadcast(JSON.parse(Buffer.concat(chunks).toString()));
  response.end();
});

function mountWs(): (event: unknown) => void {
  const wss = new WebSocketServer({ server, perMessageDeflate: false });
  return (event) => {
    const frame = JSON.stringify(event);
    for (const client of wss.clients) client.send(frame);
  };
}

function mountSocketIo(): (event: unknown) => void {
  const io = new Server(server, { serveClient: false, perMessageDeflate: false });
  io.on('connection', (client) => client.join('room'));
  return (event) => io.to('room').emit('events:channel', event);
}

const broadcast = kind === 'ws' ? mountWs() : mountSocketIo();
server.listen(0, '127.0.0.1', () => ready((server.address() as AddressInfo).port));
