import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { type DefaultEventsMap, Server, type Socket } from 'socket.io';
import { Decoder } from 'socket.io-parser';
import { upgradeHeaders } from '../http/http.response.ts';
import { onUpgrade } from '../http/http.upgrade.ts';
import type { Connection } from './socketio.backlog.ts';
import type { EventClient } from './socketio.client.ts';
import { SharingEncoder } from './socketio.encoder.ts';
import { cutFloods, MAX_PACKET_BYTES } from './socketio.floods.ts';
import type { SocketOutlet } from './socketio.outlet.ts';

export const SOCKETIO_PATH = '/ws/socket.io';

interface ClientData {
  client: EventClient;
  outlet: SocketOutlet;
  /** Stops the timer that would end the socket. */
  callOff: () => void;
  /** Whether the socket was given to a person, once that is known; null before it has sent credentials. */
  admission: Promise<boolean> | null;
  /** Whether the client said which names of events it wants. */
  choseHabit: boolean;
}
export type ClientSocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, ClientData>;
export type Io = Server<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, ClientData>;

export interface IoOptions {
  origins: readonly string[];
  /** How often a client must show that it is still there, and how long it may take to. */
  pings: { intervalMs: number; timeoutMs: number };
  connectMs: number;
  /** Whether new connections are accepted. */
  isOpen(): boolean;
}

/** Socket.IO on the HTTP server, with our limits, headers and encoder. */
export function createIo(server: HttpServer, { origins, pings, connectMs, isOpen }: IoOptions): Io {
  // First, so that an upgrade's arrival is noted before Engine.IO answers it.
  onUpgrade(server, SOCKETIO_PATH, () => {});
  const io: Io = new Server(server, {
    path: SOCKETIO_PATH,
    // `http.upgrade.ts` answers upgrades of other paths.
    destroyUpgrade: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: MAX_PACKET_BYTES,
    pingInterval: pings.intervalMs,
    pingTimeout: pings.timeoutMs,
    connectTimeout: connectMs,
    parser: { Encoder: SharingEncoder, Decoder },
    allowRequest: (_request, answer) => answer(null, isOpen()),
    cors: origins.length === 0 ? { origin: false } : { origin: origins.includes('*') ? '*' : [...origins] },
  });
  io.engine.on('headers', (headers: Record<string, string>, request: IncomingMessage) => {
    // The answer to a poll gets its headers from `TimedResponse`.
    if (request.headers.upgrade) Object.assign(headers, upgradeHeaders(request));
  });
  io.engine.on('connection', cutFloods);
  return io;
}

/** Engine.IO declares its write buffer private, and hands it out with its event `flush`. */
export const connectionOf = (socket: ClientSocket): Connection => socket.conn as unknown as Connection;
