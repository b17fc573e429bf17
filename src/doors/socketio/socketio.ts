import type { Server as HttpServer } from 'node:http';
import { callAt } from '../../auth/watch.ts';
import { AppError } from '../../core/errors.ts';
import { describeFailure } from '../../core/failure.ts';
import type { Actor, Parts } from '../../core/scope.ts';
import type { Env } from '../../env.ts';
import { buildSocketContext } from '../http/context.ts';
import { reportFailure } from '../http/report.ts';
import { closeInSpread } from '../http/spread.ts';
import { cutBacklogs, outletOf } from './socketio.backlog.ts';
import { EventClient } from './socketio.client.ts';
import { canMend, endSocket } from './socketio.endings.ts';
import { Handshake, Join } from './socketio.handshake.ts';
import { hearClient } from './socketio.heard.ts';
import { Broadcasts, SocketOutlet } from './socketio.outlet.ts';
import { Seats } from './socketio.seats.ts';
import { type ClientSocket, connectionOf, createIo, type Io, SOCKETIO_PATH } from './socketio.server.ts';
import { shareSessions } from './socketio.workers.ts';

/** How long a socket may stay without accepted credentials. */
const PROOF_MS = 10_000;
const PINGS = { intervalMs: 25_000, timeoutMs: 20_000 };
/** How many sockets one user may have in this process. */
const MAX_SOCKETS = 100;
/** Ends a socket whose session has ended, or that never sent accepted credentials. */
const ENDED = new AppError('unauthenticated');

export interface SocketIoDoor {
  /** How many connections are open. */
  readonly size: number;
  /** Closes the transports of all sockets, so that their clients come back by themselves. */
  close(): Promise<void>;
}

interface DoorOptions {
  server: HttpServer;
  parts: Parts;
  env: Pick<Env, 'CORS_ALLOW_ORIGIN' | 'worker'>;
  proofMs?: number;
  maxSockets?: number;
  pings?: { intervalMs: number; timeoutMs: number };
}

/** The events of all streams over the Socket.IO protocol. */
export const mountSocketIo = (options: DoorOptions): SocketIoDoor => new Door(options);

class Door implements SocketIoDoor {
  readonly #parts: Parts;
  readonly #proofMs: number;
  readonly #io: Io;
  readonly #broadcasts: Broadcasts;
  readonly #seats: Seats;
  readonly #stopCutting: () => void;
  readonly #stopSharing: () => void;
  #isClosing = false;

  constructor({ server, parts, env, ...limits }: DoorOptions) {
    const { proofMs = PROOF_MS, maxSockets = MAX_SOCKETS, pings = PINGS } = limits;
    const isOpen = () => !this.#isClosing;
    const io = createIo(server, { origins: env.CORS_ALLOW_ORIGIN, pings, connectMs: proofMs, isOpen });
    this.#parts = parts;
    this.#proofMs = proofMs;
    this.#io = io;
    this.#broadcasts = new Broadcasts({
      // Each socket is in a room of its own, which has its id.
      broadcast: (socketIds, name, told) => io.to(socketIds).emit(name, told),
      envelopeOf: (stream) => parts.hub.kind(stream).envelope,
    });
    this.#seats = new Seats(maxSockets);
    io.use((socket, next) => this.#open(socket, next));
    io.on('connection', (socket) => this.#connect(socket));
    this.#stopSharing = env.worker ? shareSessions(io.engine, env.worker, parts.log) : () => {};
    this.#stopCutting = cutBacklogs(() => this.#sockets.map(connectionOf));
  }

  get size(): number {
    return this.#io.engine.clientsCount;
  }

  get #sockets(): ClientSocket[] {
    return [...this.#io.sockets.sockets.values()];
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await closeInSpread(this.#sockets, ({ conn }) => conn.close());
    this.#stopCutting();
    this.#stopSharing();
    // The HTTP server is the application's to close.
    this.#io.engine.close();
    await this.#io.of('/').adapter.close();
  }

  /** Refuses a socket whose credentials are wrong, before it is connected. */
  #open(socket: ClientSocket, next: (refusal?: Error) => void): void {
    const client = this.#createClient(socket);
    // A client without credentials may send them with `user-join`.
    if (!client.context.credentials) {
      next();
      return;
    }
    client
      .standWhereNow(client.context)
      .then((actor) => this.#seats.require(actor.id, socket))
      .then(
        () => next(),
        (error) => {
          this.#report(error);
          if (!canMend(error)) socket.conn.close();
          // When the connection is closed, the library only forgets the socket.
          next(refusal(error));
        },
      );
  }

  #createClient(socket: ClientSocket): EventClient {
    const handshake = Handshake.parse(socket.handshake.auth);
    const outlet = new SocketOutlet({
      socketId: socket.id,
      habit: handshake.events ?? 'both',
      connection: outletOf(connectionOf(socket)),
      broadcasts: this.#broadcasts,
      fail: (error) => this.#refuse(socket, error),
    });
    const client = new EventClient({
      outlet,
      context: buildSocketContext(this.#parts, socket.request, handshake.token),
      lastEventIds: handshake.last_event_ids,
      onEnded: () => endSocket(socket, ENDED),
    });
    const choseHabit = handshake.events !== undefined;
    socket.data = { client, outlet, callOff: () => {}, admission: null, choseHabit };
    return client;
  }

  #connect(socket: ClientSocket): void {
    const { credentials } = socket.data.client.context;
    if (credentials) {
      const token = credentials.via === 'connection' ? credentials.token : undefined;
      this.#admit(socket, token).catch(() => {});
    } else {
      const timer = setTimeout(() => endSocket(socket, ENDED), this.#proofMs);
      socket.data.callOff = () => clearTimeout(timer);
    }
    for (const name of ['user-join', 'join-channels']) {
      socket.on(name, (payload: unknown, acknowledge: unknown) => {
        const answer = typeof acknowledge === 'function' ? acknowledge : () => {};
        this.#join(socket, name, payload, (...told) => answer(...told));
      });
    }
    hearClient(socket, (error) => this.#refuse(socket, error));
    socket.on('disconnect', () => this.#leave(socket));
  }

  #join(socket: ClientSocket, name: string, payload: unknown, answer: (...told: unknown[]) => void): void {
    const join = Join.safeParse(payload);
    if (!join.success) {
      answer();
      return;
    }
    // Only clients of the comparable system send `user-join`, and they listen for the envelope.
    if (name === 'user-join' && !socket.data.choseHabit) socket.data.outlet.habit = 'envelope';
    this.#admit(socket, join.data.auth.token).then(
      ({ id, name: userName }) => answer({ id, name: userName }),
      () => {},
    );
  }

  /** Gives a socket to the person of its credentials. Rejects after it has refused a socket. */
  #admit(socket: ClientSocket, token: string | undefined): Promise<Actor> {
    const admitted = this.#identify(socket, token).catch((error) => {
      this.#refuse(socket, error);
      throw error;
    });
    socket.data.admission = admitted.then(
      () => true,
      () => false,
    );
    return admitted;
  }

  /** Checks the credentials of a socket and gives it to its person. @throws AppError when it is not admitted */
  async #identify(socket: ClientSocket, token: string | undefined): Promise<Actor> {
    const { client } = socket.data;
    const context = buildSocketContext(this.#parts, socket.request, token);
    const actor = await client.standWhereNow(context);
    if (!socket.connected) return actor;
    this.#seats.take(actor.id, socket);
    socket.data.callOff();
    socket.data.callOff =
      actor.expiresAt === null ? () => {} : callAt(actor.expiresAt, () => endSocket(socket, ENDED));
    await client.become(context, actor);
    return actor;
  }

  #leave(socket: ClientSocket): void {
    socket.data.callOff();
    this.#seats.giveBack(socket);
    socket.data.client.close();
    // Without this the library would keep a connection that has left the namespace for ever.
    socket.conn.close();
  }

  #refuse(socket: ClientSocket, error: unknown): void {
    this.#report(error);
    endSocket(socket, error);
  }

  #report(error: unknown): void {
    const told = { requestId: '', route: SOCKETIO_PATH };
    reportFailure(this.#parts.log, describeFailure(error, ''), error, told);
  }
}

/** The error of the client's `connect_error`, with the wire form of the failure in `data`. */
function refusal(error: unknown): Error {
  const { body } = describeFailure(error, '');
  return Object.assign(new Error(body.detail), { data: body });
}
