import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { type DefaultEventsMap, Server, type Socket } from 'socket.io';
import { Decoder } from 'socket.io-parser';
import { callAt } from '../../auth/watch.ts';
import { AppError } from '../../core/errors.ts';
import { describeFailure } from '../../core/failure.ts';
import type { Actor, Parts } from '../../core/scope.ts';
import type { Env } from '../../env.ts';
import { buildSocketContext } from '../http/context.ts';
import { upgradeHeaders } from '../http/http.response.ts';
import { onUpgrade } from '../http/http.upgrade.ts';
import { reportFailure } from '../http/report.ts';
import { closeInSpread } from '../http/spread.ts';
import { type Connection, cutBacklogs, outletOf } from './socketio.backlog.ts';
import { EventClient } from './socketio.client.ts';
import { SharingEncoder } from './socketio.encoder.ts';
import { canMend, endSocket } from './socketio.endings.ts';
import { cutFloods, MAX_PACKET_BYTES } from './socketio.floods.ts';
import { Handshake, Join } from './socketio.handshake.ts';
import { hearClient } from './socketio.heard.ts';
import { Broadcasts, SocketOutlet } from './socketio.outlet.ts';

const SOCKETIO_PATH = '/ws/socket.io';

/** How long a socket may stay without having proved who it is. */
const PROOF_MS = 10_000;
/** How often a client must show that it is still there, and how long it may take to. */
const PINGS = { intervalMs: 25_000, timeoutMs: 20_000 };
/** How many sockets one user may have in this process; each may leave a little unread. */
const MAX_SOCKETS = 100;
/** Why a socket ends whose session did, or that never proved who it is. */
const ENDED = new AppError('unauthenticated');

interface ClientData {
  client: EventClient;
  outlet: SocketOutlet;
  /** Stops what would end the socket at a set time. */
  callOff: () => void;
  /** Whether the client said which names of events it wants. */
  choseHabit: boolean;
}
type ClientSocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, ClientData>;
type Io = Server<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, ClientData>;

export interface SocketIoDoor {
  /** How many connections are open. */
  readonly size: number;
  /** Closes the transports of all sockets, so that their clients come back by themselves. */
  close(): Promise<void>;
}

/** The events of all streams over the Socket.IO protocol: who a socket belongs to, and how its events are encoded and sent. */
export function mountSocketIo(options: {
  server: HttpServer;
  parts: Parts;
  env: Pick<Env, 'CORS_ALLOW_ORIGIN'>;
  proofMs?: number;
  maxSockets?: number;
  pings?: { intervalMs: number; timeoutMs: number };
}): SocketIoDoor {
  const { server, parts, env, proofMs = PROOF_MS, maxSockets = MAX_SOCKETS, pings = PINGS } = options;
  const origins = env.CORS_ALLOW_ORIGIN;
  let isClosing = false;
  // First, so that an upgrade's arrival is noted before Engine.IO answers it.
  onUpgrade(server, SOCKETIO_PATH, () => {});
  const io: Io = new Server(server, {
    path: SOCKETIO_PATH,
    // `http.upgrade.ts` answers what is for no door.
    destroyUpgrade: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: MAX_PACKET_BYTES,
    pingInterval: pings.intervalMs,
    pingTimeout: pings.timeoutMs,
    connectTimeout: proofMs,
    parser: { Encoder: SharingEncoder, Decoder },
    allowRequest: (_request, answer) => answer(null, !isClosing),
    cors: origins.length === 0 ? { origin: false } : { origin: origins.includes('*') ? '*' : origins },
  });
  io.engine.on('headers', (headers: Record<string, string>, request: IncomingMessage) => {
    // A poll's answer is `TimedResponse`'s.
    if (request.headers.upgrade) Object.assign(headers, upgradeHeaders(request));
  });

  io.engine.on('connection', cutFloods);

  const broadcasts = new Broadcasts({
    // Each socket is in a room of its own, which has its id.
    broadcast: (socketIds, name, told) => io.to(socketIds).emit(name, told),
    envelopeOf: (stream) => parts.hub.kind(stream).envelope,
  });

  const clients = (): ClientSocket[] => [...io.sockets.sockets.values()];
  const failed = (error: unknown) =>
    reportFailure(parts.log, describeFailure(error, ''), error, { requestId: '', route: SOCKETIO_PATH });

  function refuse(socket: ClientSocket, error: unknown): void {
    failed(error);
    endSocket(socket, error);
  }

  /** The sockets of each person. */
  const socketsOf = new Map<string, Set<ClientSocket>>();

  /** @throws rate_limited */
  function requireSeat({ id }: Actor, socket: ClientSocket): void {
    const sockets = socketsOf.get(id);
    if (!sockets || sockets.has(socket) || sockets.size < maxSockets) return;
    throw new AppError('rate_limited', {
      detail: `This account has ${maxSockets} connections, the most that one may have. Close some first.`,
    });
  }

  function giveSeatBack(socket: ClientSocket): void {
    const { id = '' } = socket.data.client.actor ?? {};
    const sockets = socketsOf.get(id);
    if (sockets?.delete(socket) && sockets.size === 0) socketsOf.delete(id);
  }

  function takeSeat(actor: Actor, socket: ClientSocket): void {
    requireSeat(actor, socket);
    giveSeatBack(socket);
    socketsOf.set(actor.id, (socketsOf.get(actor.id) ?? new Set()).add(socket));
  }

  /** Proves who a socket is and puts it where it belongs. @throws AppError when it may not be here */
  async function admit(socket: ClientSocket, token: string | undefined): Promise<Actor> {
    const { client } = socket.data;
    const context = buildSocketContext(parts, socket.request, token);
    const actor = await client.standWhereNow(context);
    if (!socket.connected) return actor;
    takeSeat(actor, socket);
    socket.data.callOff();
    socket.data.callOff =
      actor.expiresAt === null ? () => {} : callAt(actor.expiresAt, () => endSocket(socket, ENDED));
    await client.become(context, actor);
    return actor;
  }

  io.use((socket, next) => {
    const handshake = Handshake.parse(socket.handshake.auth);
    const outlet = new SocketOutlet({
      socketId: socket.id,
      habit: handshake.events ?? 'both',
      connection: outletOf(connectionOf(socket)),
      broadcasts,
      fail: (error) => refuse(socket, error),
    });
    const client = new EventClient({
      outlet,
      context: buildSocketContext(parts, socket.request, handshake.token),
      lastEventIds: handshake.last_event_ids,
      onEnded: () => endSocket(socket, ENDED),
    });
    socket.data = { client, outlet, callOff: () => {}, choseHabit: handshake.events !== undefined };
    // Without any credentials the client may still prove itself by `user-join`.
    if (!client.context.credentials) return next();
    client
      .standWhereNow(client.context)
      .then((actor) => requireSeat(actor, socket))
      .then(
        () => next(),
        (error) => {
          failed(error);
          if (!canMend(error)) socket.conn.close();
          // Of a closed connection the library only forgets the socket.
          next(refusal(error));
        },
      );
  });

  io.on('connection', (socket) => {
    const { credentials } = socket.data.client.context;
    if (credentials) {
      const token = credentials.via === 'connection' ? credentials.token : undefined;
      admit(socket, token).catch((error) => refuse(socket, error));
    } else {
      const timer = setTimeout(() => endSocket(socket, ENDED), proofMs);
      socket.data.callOff = () => clearTimeout(timer);
    }
    for (const name of ['user-join', 'join-channels']) {
      socket.on(name, (payload: unknown, acknowledge: unknown) => {
        const answer = typeof acknowledge === 'function' ? acknowledge : () => {};
        const join = Join.safeParse(payload);
        if (!join.success) return answer();
        // Only clients of the comparable system send it, and they listen for the envelope.
        if (name === 'user-join' && !socket.data.choseHabit) socket.data.outlet.habit = 'envelope';
        admit(socket, join.data.auth.token).then(
          ({ id, name: userName }) => answer({ id, name: userName }),
          (error) => refuse(socket, error),
        );
      });
    }
    hearClient(socket, socket.data.client, (error) => refuse(socket, error));
    socket.on('disconnect', () => {
      socket.data.callOff();
      giveSeatBack(socket);
      socket.data.client.close();
      // The library would keep a connection that has left the namespace, nameless and for ever.
      socket.conn.close();
    });
  });

  const stopCutting = cutBacklogs(() => clients().map(connectionOf));

  return {
    get size() {
      return io.engine.clientsCount;
    },
    async close() {
      isClosing = true;
      await closeInSpread(clients(), ({ conn }) => conn.close());
      stopCutting();
      // The HTTP server is the application's to close.
      io.engine.close();
      await io.of('/').adapter.close();
    },
  };
}

/** Engine.IO declares its write buffer private, and hands it out with its event `flush`. */
const connectionOf = (socket: ClientSocket) => socket.conn as unknown as Connection;

/** What the client's `connect_error` shows: the wire form of the failure in `data`. */
function refusal(error: unknown): Error {
  const { body } = describeFailure(error, '');
  return Object.assign(new Error(body.detail), { data: body });
}
