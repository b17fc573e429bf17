import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AnyRouter, TRPCError } from '@trpc/server';
import { applyWSSHandler, type CreateWSSContextFnOptions } from '@trpc/server/adapters/ws';
import { WebSocketServer } from 'ws';
import { appErrorIn } from '../../core/errors.ts';
import type { Parts, Reply } from '../../core/scope.ts';
import { keepSweeping } from '../../core/sweep.ts';
import type { Context } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { buildSocketContext } from '../http/context.ts';
import { requestIdOf, upgradeHeaders } from '../http/http.response.ts';
import { onUpgrade, refuseUpgrade } from '../http/http.upgrade.ts';
import { closeInSpread } from '../http/spread.ts';
import { MAX_BATCH_SIZE } from './trpc.bodies.ts';
import { textEncoder } from './trpc.encoder.ts';
import { FrameSocket, outletOf } from './trpc.socket.ts';
import { report, TRPC_PATH } from './trpc.ts';

/** How long clients may take to say goodbye when the server stops. */
const CLOSE_GRACE_MS = 1000;
/** The longest interval of the sweep for sockets without accepted credentials. */
const JUDGE_EVERY_MS = 1000;
/** tRPC's notice to a client that it should open its next connection. */
const RECONNECT = JSON.stringify({ id: null, method: 'reconnect' });

export interface TrpcSockets {
  /** How many are open. */
  readonly size: number;
  /** Tells clients to come back, and resolves when none is left, at most some seconds later. */
  close(): Promise<void>;
}

interface SocketsOptions {
  server: Server;
  parts: Parts;
  router: AnyRouter;
  path?: string;
  /** How long a socket may stay without credentials of an account: time for a sign-up or sign-in. */
  anonymousMs?: number;
}

/**
 * tRPC over WebSocket. The credentials are those of `connectionParams.token`, else of the upgrade request; they
 * are kept for the connection, and each call resolves them anew.
 */
export function mountTrpcSockets(options: SocketsOptions): TrpcSockets {
  const { server, parts, router, path = TRPC_PATH, anonymousMs = 10_000 } = options;
  const wss = createFrameServer();
  const judging = judgeSockets(wss, parts, anonymousMs);
  let isClosing = false;
  applyWSSHandler({
    wss,
    router,
    maxBatchSize: MAX_BATCH_SIZE,
    experimental_encoder: textEncoder,
    keepAlive: { enabled: true, pingMs: 30_000, pongWaitMs: 10_000 },
    createContext: (connection) => contextOf(parts, connection),
    onError({ error, path, req }) {
      if (!isBrokenFrame(error)) report(parts, error, path, requestIdOf(req));
    },
  });
  onUpgrade(server, path, (request, socket, head) => {
    if (isClosing) refuseUpgrade(request, socket, 'unavailable');
    else upgrade(wss, request, socket, head);
  });
  return {
    get size() {
      return wss.clients.size;
    },
    async close() {
      isClosing = true;
      await closeAll(wss);
      await judging.close();
    },
  };
}

type FrameServer = ReturnType<typeof createFrameServer>;

function createFrameServer() {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: LIMITS.bodyBytes,
    // Fragments are kept until the message is whole, and each takes hundreds of bytes.
    maxFragments: 1024,
    maxBufferedChunks: 16 * 1024,
    perMessageDeflate: false,
    // Takes one frame of a socket in a turn of the event loop, pings included.
    allowSynchronousEvents: false,
    WebSocket: FrameSocket,
  });
  wss.on('headers', (headers, request) => {
    for (const [name, value] of Object.entries(upgradeHeaders(request))) headers.push(`${name}: ${value}`);
  });
  return wss;
}

function upgrade(wss: FrameServer, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  // The adapter parses these as a URL when a socket connects, and its error would end the process.
  if (!URL.canParse(request.url ?? '', `http://${request.headers.host}`)) {
    refuseUpgrade(request, socket, 'bad_request');
    return;
  }
  wss.handleUpgrade(request, socket, head, (client) => {
    client.connection = socket;
    client.prove = async () => client.context !== undefined && isAccepted(client.context);
    wss.emit('connection', client, request);
  });
}

function contextOf(parts: Parts, { req, res, info }: CreateWSSContextFnOptions): Context {
  const context = buildSocketContext(parts, req, info.connectionParams?.token);
  // The adapter keeps the request as long as the connection. Its headers are in the context, and their memory is released.
  req.headers = {};
  req.rawHeaders = [];
  const socket = res as FrameSocket;
  const { outlet, forCall } = outletOf(socket, req.socket);
  const reply: Reply = {
    ...context.reply,
    outlet,
    begin: () => socket.begin(),
    identified: ({ id }) => socket.identify(id),
    forCall: (rawInput) => ({ ...reply, outlet: forCall(rawInput) }),
  };
  const whole = { ...context, reply, signal: info.signal };
  socket.context = whole;
  return whole;
}

/** Whether frames of a client broke the protocol or its limits: that closes its socket, and the server has not failed. */
const isBrokenFrame = ({ cause }: TRPCError): boolean =>
  cause instanceof Error && 'code' in cause && String(cause.code).startsWith('WS_ERR_');

/** Whether the credentials of a socket are those of an account. */
async function isAccepted({ parts, credentials, request, reply }: Context): Promise<boolean> {
  if (!credentials) return false;
  try {
    await parts.authenticate(credentials, request, () => [], reply.identified);
    return true;
  } catch (error) {
    // Each call checks what its key may reach. A database that is away does not make credentials wrong.
    return appErrorIn(error)?.code !== 'unauthenticated';
  }
}

/** Closes sockets that stay too long without accepted credentials. One sweep for all: a timer for each socket would take memory. */
const judgeSockets = (wss: FrameServer, { log }: Parts, anonymousMs: number) =>
  keepSweeping(
    Math.min(anonymousMs / 2, JUDGE_EVERY_MS),
    () => closeUnproved(wss.clients, performance.now() - anonymousMs),
    (error) => log.error({ err: error }, 'Sockets without credentials could not be judged.'),
  );

async function closeUnproved(sockets: Iterable<FrameSocket>, openedBefore: number): Promise<void> {
  const late = [...sockets].filter(({ isJudged, openedAt }) => !isJudged && openedAt <= openedBefore);
  await Promise.all(
    late.map(async (socket) => {
      socket.isJudged = true;
      socket.isProved = await socket.prove();
      if (!socket.isProved) socket.closeFor('Connect with credentials');
    }),
  );
}

async function closeAll(wss: FrameServer): Promise<void> {
  await closeInSpread(wss.clients, (client) => {
    client.send(RECONNECT);
    client.close(1001, 'The server stops');
  });
  const cut = setTimeout(() => {
    for (const client of wss.clients) client.terminate();
  }, CLOSE_GRACE_MS);
  await new Promise((resolve) => wss.close(resolve));
  clearTimeout(cut);
}
