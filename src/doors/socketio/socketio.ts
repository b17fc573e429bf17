import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { type DefaultEventsMap, Server, type Socket } from 'socket.io';
import { isEnded } from '../../auth/revocation.ts';
import { callAt } from '../../auth/watch.ts';
import {
  type AddressedNotice,
  CHANNEL_EVENTS,
  type LoggedView,
} from '../../channels/events/events.schema.ts';
import { AppError } from '../../core/errors.ts';
import { describeFailure } from '../../core/failure.ts';
import type { Actor, Parts } from '../../core/scope.ts';
import type { Env } from '../../env.ts';
import { buildSocketContext } from '../http/context.ts';
import { upgradeHeaders } from '../http/http.response.ts';
import { onUpgrade } from '../http/http.upgrade.ts';
import { reportFailure } from '../http/report.ts';
import { closeInSpread } from '../http/spread.ts';
import { traffic } from '../metrics/metrics.sockets.ts';
import { type Connection, cutBacklogs, outletOf } from './socketio.backlog.ts';
import { channelRoom, ENVELOPE, EventClient, type Habit, type Told, userRoom } from './socketio.client.ts';
import { canMend, endSocket } from './socketio.endings.ts';
import { cutFloods, MAX_PACKET_BYTES } from './socketio.floods.ts';
import { Handshake, Join } from './socketio.handshake.ts';
import { hearClient } from './socketio.heard.ts';

const SOCKETIO_PATH = '/ws/socket.io';

/** How long a socket may stay without having proved who it is. */
const PROOF_MS = 10_000;
/** How often a client must show that it is still there, and how long it may take to. */
const PINGS = { intervalMs: 25_000, timeoutMs: 20_000 };
/** How many sockets one user may have in this process; each may leave a little unread. */
const MAX_SOCKETS = 100;
const HABITS = ['envelope', 'named', 'both'] as const;
/** Why a socket ends whose session did, or that never proved who it is. */
const ENDED = new AppError('unauthenticated');

interface ClientData {
  client: EventClient;
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

/**
 * The events of channels over the Socket.IO protocol. Sockets sit in rooms, so an event is encoded once for all who wait for it.
 * The rooms follow every change of access, whichever process made it.
 */
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
    allowRequest: (_request, answer) => answer(null, !isClosing),
    cors: origins.length === 0 ? { origin: false } : { origin: origins.includes('*') ? '*' : origins },
  });
  io.engine.on('headers', (headers: Record<string, string>, request: IncomingMessage) => {
    // A poll's answer is `TimedResponse`'s.
    if (request.headers.upgrade) Object.assign(headers, upgradeHeaders(request));
  });

  io.engine.on('connection', cutFloods);

  const clients = (): ClientSocket[] => [...io.sockets.sockets.values()];
  const failed = (error: unknown) =>
    reportFailure(parts.log, describeFailure(error, ''), error, { requestId: '', route: SOCKETIO_PATH });

  function refuse(socket: ClientSocket, error: unknown): void {
    failed(error);
    endSocket(socket, error);
  }

  /** @throws rate_limited */
  function requireRoom({ id }: Actor, socket: ClientSocket): void {
    const { rooms } = io.sockets.adapter;
    const sockets = HABITS.flatMap((habit) => [...(rooms.get(userRoom(id, habit)) ?? [])]);
    if (sockets.includes(socket.id) || sockets.length < maxSockets) return;
    throw new AppError('rate_limited', {
      detail: `This account has ${maxSockets} connections, the most that one may have. Close some first.`,
    });
  }

  /** Proves who a socket is and puts it where it belongs. @throws AppError when it may not be here */
  async function admit(socket: ClientSocket, token: string | undefined): Promise<Actor> {
    const { client } = socket.data;
    const context = buildSocketContext(parts, socket.request, token);
    const actor = await client.standWhereNow(context);
    if (!socket.connected) return actor;
    requireRoom(actor, socket);
    client.become(context, actor);
    socket.data.callOff();
    socket.data.callOff =
      actor.expiresAt === null ? () => {} : callAt(actor.expiresAt, () => endSocket(socket, ENDED));
    await client.refresh();
    return actor;
  }

  io.use((socket, next) => {
    const handshake = Handshake.parse(socket.handshake.auth);
    const client = new EventClient({
      socket,
      habit: handshake.events ?? 'both',
      outlet: outletOf(connectionOf(socket)),
      context: buildSocketContext(parts, socket.request, handshake.token),
      lastEventIds: handshake.last_event_ids,
      fail: (error) => refuse(socket, error),
    });
    socket.data = { client, callOff: () => {}, choseHabit: handshake.events !== undefined };
    // Without any credentials the client may still prove itself by `user-join`.
    if (!client.context.credentials) return next();
    client
      .standWhereNow(client.context)
      .then((actor) => requireRoom(actor, socket))
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
        if (name === 'user-join' && !socket.data.choseHabit) socket.data.client.changeHabit('envelope');
        admit(socket, join.data.auth.token).then(
          ({ id, name: userName }) => answer({ id, name: userName }),
          (error) => refuse(socket, error),
        );
      });
    }
    hearClient(socket, socket.data.client, (error) => refuse(socket, error));
    socket.on('disconnect', () => {
      socket.data.callOff();
      socket.data.client.close();
      // The library would keep a connection that has left the namespace, nameless and for ever.
      socket.conn.close();
    });
  });

  /** Sends to the rooms what they want of it, each under its name. An emit into empty rooms would still encode it. */
  function broadcast(told: Told, roomOf: (habit: Habit) => string[]): void {
    const send = (name: string, habits: Habit[]) => {
      const rooms = habits.flatMap(roomOf).filter((room) => io.sockets.adapter.rooms.has(room));
      if (rooms.length > 0) io.to(rooms).emit(name, told);
    };
    send(ENVELOPE, ['both', 'envelope']);
    send(told.data.type, ['both', 'named']);
  }

  function deliverLogged(event: LoggedView): void {
    for (const habit of HABITS) {
      traffic.socketio.delivered +=
        io.sockets.adapter.rooms.get(channelRoom(event.channel_id, habit))?.size ?? 0;
    }
    broadcast(event, (habit) => [channelRoom(event.channel_id, habit)]);
  }

  function deliver({ to, notice }: AddressedNotice): void {
    if ('userIds' in to) {
      broadcast(notice, (habit) => to.userIds.map((id) => userRoom(id, habit)));
      return;
    }
    broadcast(notice, (habit) => [channelRoom(to.channelId, habit)]);
    if (!isOfChannel(notice.data.type)) return;
    for (const { data } of clients()) data.client.tellBeforeRoom(to.channelId, notice);
  }

  const unsubscribe = [
    cutBacklogs(() => clients().map(connectionOf)),
    parts.hub.onEvent(deliverLogged),
    parts.hub.onNotice(deliver),
    parts.bus.subscribe('auth.revoked', (revocation) => {
      for (const socket of clients()) {
        const { actor } = socket.data.client;
        if (actor && isEnded(actor, revocation)) endSocket(socket, ENDED);
      }
    }),
    parts.bus.subscribe('auth.changed', ({ userId }) => reconsider(({ id }) => id === userId)),
    parts.bus.subscribe('groups.changed', ({ userIds }) => {
      const changed = userIds && new Set(userIds);
      reconsider(({ id }) => changed?.has(id) ?? true);
    }),
    parts.bus.subscribe('config.changed', refreshAll),
    parts.bus.onGap(refreshAll),
    parts.bus.subscribe('channel.access', ({ channelId, since }) => {
      // What follows the change is only for those who may read it: nobody is sent more of the channel before the answer.
      for (const { data } of clients()) data.client.hold(channelId);
      realign(channelId, since).catch((error) => {
        failed(error);
        for (const socket of clients()) lookAnew(socket, channelId);
      });
    }),
  ];

  function refreshAll(): void {
    for (const socket of clients()) {
      const { client } = socket.data;
      if (client.actor) client.refresh().catch((error) => refuse(socket, error));
    }
  }

  /** What some people may read may have become less. */
  function reconsider(matches: (actor: Actor) => boolean): void {
    for (const socket of clients()) {
      const { client } = socket.data;
      if (client.actor && matches(client.actor)) client.reconsider().catch((error) => refuse(socket, error));
    }
  }

  /** Without an answer for all at once, a socket is looked at by itself, and dropped if that fails. */
  function lookAnew(socket: ClientSocket, channelId: string): void {
    const { client } = socket.data;
    if (!client.actor) return;
    client.refresh().then(
      () => client.release(channelId),
      (error) => refuse(socket, error),
    );
  }

  /** Who may read one channel has changed: one statement for all sockets of this process. */
  async function realign(channelId: string, since: number): Promise<void> {
    const asked = new Map(clients().map((socket) => [socket, socket.data.client.actor?.id]));
    const users = new Set([...asked.values()].filter((id) => id !== undefined));
    if (users.size === 0) return;
    const readers = await parts.hub.readers(channelId, [...users]);
    for (const [socket, userId] of asked) {
      const { client } = socket.data;
      if (userId !== undefined && client.actor?.id === userId)
        client.realign(channelId, readers.has(userId), since);
      // Somebody else by now.
      else lookAnew(socket, channelId);
    }
  }

  return {
    get size() {
      return io.engine.clientsCount;
    },
    async close() {
      isClosing = true;
      await closeInSpread(clients(), ({ conn }) => conn.close());
      for (const end of unsubscribe) end();
      // The HTTP server is the application's to close.
      io.engine.close();
      await io.of('/').adapter.close();
    },
  };
}

const isOfChannel = (type: string) => (CHANNEL_EVENTS as readonly string[]).includes(type);

/** Engine.IO declares its write buffer private, and hands it out with its event `flush`. */
const connectionOf = (socket: ClientSocket) => socket.conn as unknown as Connection;

/** What the client's `connect_error` shows: the wire form of the failure in `data`. */
function refusal(error: unknown): Error {
  const { body } = describeFailure(error, '');
  return Object.assign(new Error(body.detail), { data: body });
}
