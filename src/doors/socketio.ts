import type { Server as HttpServer } from 'node:http';
import { type DefaultEventsMap, Server, type Socket } from 'socket.io';
import { z } from 'zod';
import { callAt } from '../auth/watch.ts';
import { listReaders } from '../channels/channels.repository.ts';
import { readableChannels } from '../channels/channels.service.ts';
import { toNanoseconds } from '../channels/events.cursor.ts';
import { readClock, readHeads, readPositions } from '../channels/events.repository.ts';
import type { ChannelEventView } from '../channels/messages.schema.ts';
import { AppError } from '../core/errors.ts';
import { describeFailure } from '../core/failure.ts';
import { type Actor, createScope, type Parts } from '../core/scope.ts';
import { admitMember, type Context } from '../core/trpc.ts';
import { LIMITS } from '../core/wire.ts';
import type { Env } from '../env.ts';
import { buildSocketContext } from './context.ts';
import { onUpgrade } from './http.upgrade.ts';
import { reportFailure } from './report.ts';
import { type Backlog, followBacklog } from './socketio.backlog.ts';

export const SOCKETIO_PATH = '/ws/socket.io';

/** How long a socket may stay without having proved who it is. */
const PROOF_MS = 10_000;
/** How much of what a client missed is sent ahead of its reading, in characters. */
const REPLAY_BACKLOG = LIMITS.bodyBytes;

/** Which names of events a socket wants: one name for all, each type's own, or both. */
const Habit = z.enum(['envelope', 'named', 'both']).catch('both').default('both');
type Habit = z.infer<typeof Habit>;

const Handshake = z.object({
  token: z.string().optional().catch(undefined),
  events: Habit,
  last_event_ids: z.record(z.guid(), z.int().min(0)).catch({}).default({}),
});
const Join = z.object({ auth: z.object({ token: z.string() }) });

interface SocketData {
  habit: Habit;
  /** Where the client goes on in channels that it does not hear now. */
  resume: Map<string, number>;
  /** Since when it is due the events of any other channel that it comes to read; null before it has proved who it is. */
  sinceMicros: number | null;
  context: Context;
  actor: Actor | null;
  /** Channels whose events this socket gets. */
  channels: Set<string>;
  /** Refreshes queue up, so that an older answer never undoes a newer one. */
  refreshing: Promise<void>;
  /** How many refreshes are under way or wait. */
  refreshes: number;
  callOff: () => void;
  backlog: Backlog;
}

type Io = Server<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketData>;
type Client = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketData>;

const userRoom = (userId: string) => `user:${userId}`;
const channelRoom = (channelId: string, habit: Habit) => `channel:${channelId}:${habit}`;

export interface SocketIoDoor {
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
}): SocketIoDoor {
  const { server, parts, env, proofMs = PROOF_MS } = options;
  const origins = env.CORS_ALLOW_ORIGIN;
  const io: Io = new Server(server, {
    path: SOCKETIO_PATH,
    // `http.upgrade.ts` answers what is for no door.
    destroyUpgrade: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: LIMITS.freeFormBytes,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    connectTimeout: proofMs,
    cors: origins.length === 0 ? { origin: false } : { origin: origins.includes('*') ? '*' : origins },
  });
  onUpgrade(server, SOCKETIO_PATH, () => {});

  const clients = (): Client[] => [...io.sockets.sockets.values()];
  const failed = (error: unknown) =>
    reportFailure(parts.log, describeFailure(error, ''), error, { requestId: '', route: SOCKETIO_PATH });

  /** Proves who a socket is and puts it where it belongs. @throws AppError when it may not be here */
  async function admit(client: Client, token: string | undefined): Promise<Actor> {
    const context = buildSocketContext(parts, client.request, token);
    const actor = await admitMember(context);
    const { data } = client;
    data.context = context;
    if (data.sinceMicros === null) await standWhereNow(data);
    if (!client.connected) return actor;
    if (data.actor && data.actor.id !== actor.id) client.leave(userRoom(data.actor.id));
    data.actor = actor;
    data.callOff();
    data.callOff =
      actor.expiresAt === null ? () => {} : callAt(actor.expiresAt, () => client.disconnect(true));
    client.join(userRoom(actor.id));
    await refresh(client);
    return actor;
  }

  /** Lets a client count on every event from now on, though it enters the rooms only later. @throws AppError */
  async function standWhereNow(data: SocketData): Promise<void> {
    const actor = await admitMember(data.context);
    data.sinceMicros = await readClock(parts.sql);
    const readable = await channelsOf(data.context, actor);
    for (const [channelId, head] of await readHeads(parts.sql, readable)) {
      if (!data.resume.has(channelId)) data.resume.set(channelId, head);
    }
  }

  /** Looks anew at who the socket is and which channels it may read. */
  function refresh(client: Client): Promise<void> {
    const { data } = client;
    data.refreshes += 1;
    const next = data.refreshing
      .then(() => bringInLine(client))
      .finally(() => {
        data.refreshes -= 1;
      });
    data.refreshing = next.catch(() => {});
    return next;
  }

  async function bringInLine(client: Client): Promise<void> {
    const { context, channels, resume, sinceMicros } = client.data;
    const actor = await admitMember(context);
    const readable = new Set(await channelsOf(context, actor));
    if (!client.connected) return;
    client.data.actor = actor;
    for (const channelId of channels) if (!readable.has(channelId)) leave(client, channelId);

    const added = [...readable].filter((channelId) => !channels.has(channelId));
    await parts.hub.watch(added);
    for (const channelId of added) channels.add(channelId);
    const begin = added.filter((channelId) => !resume.has(channelId));
    if (begin.length > 0) {
      const moment = toNanoseconds(sinceMicros ?? 0);
      for (const { id, position } of await readPositions(parts.sql, begin, moment)) resume.set(id, position);
    }
    if (!client.connected) return leaveAll(client);
    for (const channelId of added) await enter(client, channelId);
  }

  /** None when the caller may not use channels: the socket stays for other events. */
  async function channelsOf(context: Context, actor: Actor): Promise<string[]> {
    const { request, reply } = context;
    const identify = async () => actor;
    const scope = createScope({ parts, actor, request, reply, identify, signal: undefined });
    try {
      return await readableChannels(scope);
    } catch (error) {
      if (error instanceof AppError) return [];
      throw error;
    }
  }

  /** Lets a socket hear a channel, first what it missed. Between the last look at the head and the room no event fits. */
  async function enter(client: Client, channelId: string): Promise<void> {
    const { habit, resume, backlog } = client.data;
    let position = resume.get(channelId);
    resume.delete(channelId);
    for (;;) {
      const head = parts.hub.head(channelId) ?? 0;
      if (position === undefined || position >= head) break;
      const missed = await parts.hub.after(channelId, position);
      for (const event of missed) {
        if (event.event_id > head) break;
        await backlog.below(REPLAY_BACKLOG);
        if (!client.connected) return;
        for (const name of namesFor(habit, event)) client.emit(name, event);
        position = event.event_id;
      }
      if (missed.length === 0) break;
    }
    if (client.connected) client.join(channelRoom(channelId, habit));
  }

  /** Whoever gets access back goes on where they stopped. */
  function leave(client: Client, channelId: string): void {
    const { channels, resume, habit } = client.data;
    const head = parts.hub.head(channelId);
    if (head !== undefined) resume.set(channelId, head);
    channels.delete(channelId);
    client.leave(channelRoom(channelId, habit));
    parts.hub.unwatch([channelId]);
  }

  function leaveAll(client: Client): void {
    parts.hub.unwatch(client.data.channels);
    client.data.channels.clear();
  }

  /** Gives up a socket that may not be here any more. */
  function refuse(client: Client, error: unknown): void {
    if (!(error instanceof AppError)) failed(error);
    client.disconnect(true);
  }

  io.use((client, next) => {
    const handshake = Handshake.parse(client.handshake.auth);
    client.data = {
      habit: handshake.events,
      resume: new Map(Object.entries(handshake.last_event_ids)),
      sinceMicros: null,
      context: buildSocketContext(parts, client.request, handshake.token),
      actor: null,
      channels: new Set(),
      refreshing: Promise.resolve(),
      refreshes: 0,
      callOff: () => {},
      backlog: followBacklog(client.conn),
    };
    // Without any credentials the client may still prove itself by `user-join`.
    if (!client.data.context.credentials) return next();
    standWhereNow(client.data).then(
      () => next(),
      (error) => next(refusal(error)),
    );
  });

  io.on('connection', (client) => {
    const { context } = client.data;
    if (context.credentials) {
      const token = context.credentials.via === 'connection' ? context.credentials.token : undefined;
      admit(client, token).catch((error) => refuse(client, error));
    } else {
      const timer = setTimeout(() => client.disconnect(true), proofMs);
      client.data.callOff = () => clearTimeout(timer);
    }
    for (const name of ['user-join', 'join-channels']) {
      client.on(name, (payload: unknown, acknowledge: unknown) => {
        const answer = typeof acknowledge === 'function' ? acknowledge : () => {};
        const join = Join.safeParse(payload);
        if (!join.success) return answer();
        admit(client, join.data.auth.token).then(
          ({ id, name: userName }) => answer({ id, name: userName }),
          (error) => refuse(client, error),
        );
      });
    }
    client.on('disconnect', () => {
      client.data.callOff();
      leaveAll(client);
    });
  });

  const unsubscribe = [
    parts.hub.onEvent((event) => {
      const { channel_id } = event;
      io.to([channelRoom(channel_id, 'both'), channelRoom(channel_id, 'envelope')]).emit(ENVELOPE, event);
      io.to([channelRoom(channel_id, 'both'), channelRoom(channel_id, 'named')]).emit(event.data.type, event);
    }),
    parts.bus.subscribe('auth.revoked', ({ userId, sessionId }) => {
      for (const client of clients()) {
        const { actor } = client.data;
        if (actor?.id === userId && (sessionId === null || actor.sessionId === sessionId))
          client.disconnect(true);
      }
    }),
    parts.bus.subscribe('auth.changed', ({ userId }) => refreshAll((actor) => actor.id === userId)),
    parts.bus.subscribe('config.changed', () => refreshAll(() => true)),
    parts.bus.onGap(() => refreshAll(() => true)),
    parts.bus.subscribe('channel.access', ({ channelId, since }) => {
      // Without an answer nobody knows who may still listen: each socket is looked at by itself, and dropped if that fails.
      realign(channelId, since).catch((error) => {
        failed(error);
        refreshAll(() => true);
      });
    }),
  ];

  function refreshAll(matches: (actor: Actor) => boolean): void {
    for (const client of clients()) {
      const { actor } = client.data;
      if (actor && matches(actor)) refresh(client).catch((error) => refuse(client, error));
    }
  }

  /** Who may read one channel has changed: one statement for all sockets of this process. */
  async function realign(channelId: string, since: number): Promise<void> {
    const present = clients().filter((client) => client.data.actor !== null);
    if (present.length === 0) return;
    const users = [...new Set(present.map((client) => client.data.actor?.id ?? ''))];
    const readers = new Set(await listReaders(parts.sql, channelId, users));
    for (const client of present) {
      const { actor, channels, resume, refreshes } = client.data;
      const mayRead = readers.has(actor?.id ?? '');
      // A refresh that is under way may have asked before the change.
      if (refreshes === 0 && mayRead === channels.has(channelId)) continue;
      if (mayRead && !channels.has(channelId) && !resume.has(channelId)) resume.set(channelId, since);
      refresh(client).catch((error) => refuse(client, error));
    }
  }

  return {
    async close() {
      for (const end of unsubscribe) end();
      io.disconnectSockets(true);
      // The HTTP server is the application's to close.
      io.engine.close();
      await io.of('/').adapter.close();
    },
  };
}

const ENVELOPE = 'events:channel';

const namesFor = (habit: Habit, event: ChannelEventView): string[] => [
  ...(habit === 'named' ? [] : [ENVELOPE]),
  ...(habit === 'envelope' ? [] : [event.data.type]),
];

/** What the client's `connect_error` shows: the wire form of the failure in `data`. */
function refusal(error: unknown): Error {
  const { body } = describeFailure(error, '');
  return Object.assign(new Error(body.detail), { data: body });
}
