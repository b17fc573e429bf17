import type { IncomingMessage, Server } from 'node:http';
import type { AnyRouter, TRPCError } from '@trpc/server';
import { type FastifyHandlerOptions, fastifyRequestHandler } from '@trpc/server/adapters/fastify';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import type { ResponseMeta, TRPCRequestInfo } from '@trpc/server/http';
import { getErrorShape } from '@trpc/server/shared';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
import { AppError, appErrorIn } from '../../core/errors.ts';
import { describeFailure } from '../../core/failure.ts';
import type { Parts, Reply } from '../../core/scope.ts';
import { keepSweeping } from '../../core/sweep.ts';
import { toTrpcError } from '../../core/trpc/trpc.errors.ts';
import type { Context } from '../../core/trpc/trpc.ts';
import { LIMITS } from '../../core/wire.ts';
import { discardRest } from '../http/bodies.ts';
import { buildHttpContext, buildSocketContext } from '../http/context.ts';
import { requestIdOf, upgradeHeaders } from '../http/http.response.ts';
import { onUpgrade, refuseUpgrade } from '../http/http.upgrade.ts';
import { findIgnored, ignoredHeader, type Known, planKnownInput } from '../http/ignored.ts';
import { listProcedures } from '../http/procedures.ts';
import { reportFailure } from '../http/report.ts';
import { closeInSpread } from '../http/spread.ts';
import { MAX_BATCH_SIZE, readCalls } from './trpc.bodies.ts';
import { textEncoder } from './trpc.encoder.ts';
import { FrameSocket, outletOf } from './trpc.socket.ts';
import { putTexts, takeTexts } from './trpc.texts.ts';

const TRPC_PATH = '/trpc';

/** How long clients may take to say goodbye when the server stops. */
const CLOSE_GRACE_MS = 1000;
/** How often it is looked for sockets that are nobody's. */
const JUDGE_EVERY_MS = 1000;
/** tRPC's notice to a client that it should open its next connection. */
const RECONNECT = JSON.stringify({ id: null, method: 'reconnect' });

type HandlerOptions = FastifyHandlerOptions<AnyRouter, FastifyRequest, FastifyReply>;

/** tRPC over HTTP: queries by GET, mutations by POST, batches of either. */
export async function mountTrpc(app: FastifyInstance, parts: Parts, router: AnyRouter): Promise<void> {
  const options: HandlerOptions = {
    router,
    maxBatchSize: MAX_BATCH_SIZE,
    onError: ({ error, path, req }) => report(parts, error, path, req.id),
  };
  const metaOf = responseMetaFor(router);
  const config = router._def._config;
  // A scope of its own: tRPC parses JSON itself, and everything else keeps its parser.
  await app.register(async (scope) => {
    scope.removeContentTypeParser('application/json');
    readCalls(scope, parts, router);
    scope.setErrorHandler((cause, request, reply) => {
      const { status, body } = describeFailure(cause, request.id);
      const error = toTrpcError(new AppError(body.code, { detail: body.detail, cause }));
      report(parts, error, undefined, request.id);
      discardRest(request, reply);
      if (status === 401) reply.header('www-authenticate', 'Bearer');
      const shape = getErrorShape({
        config,
        error,
        type: 'unknown',
        path: undefined,
        input: undefined,
        ctx: undefined,
      });
      return reply.code(status).send({ error: shape });
    });
    scope.route<{ Params: { path: string } }>({
      method: ['GET', 'POST'],
      url: `${TRPC_PATH}/:path`,
      handler: async (req, res) => {
        let texts: string[] = [];
        const send = async (response: Response) =>
          texts.length === 0
            ? res.send(response)
            : res
                .code(response.status)
                .headers(Object.fromEntries(response.headers))
                .send(putTexts(await response.text(), texts));
        await fastifyRequestHandler({
          ...options,
          createContext: () => buildHttpContext(parts, req, res),
          responseMeta(answered) {
            texts = takeTexts(answered.data);
            return metaOf(answered);
          },
          req,
          res: { raw: res.raw, send } as unknown as FastifyReply,
          path: req.params.path,
        });
        return res;
      },
    });
  });
}

function report(parts: Parts, error: TRPCError, path: string | undefined, requestId: string) {
  reportFailure(parts.log, describeFailure(error, requestId), error, { requestId, route: path });
}

/** What a failure and an ignored member mean for the headers, as at the REST door. */
function responseMetaFor(router: AnyRouter) {
  const known = new Map(listProcedures(router).map(({ path, inputs }) => [path, planKnownInput(inputs)]));
  return ({
    info,
    errors,
    ctx,
  }: {
    info: TRPCRequestInfo | undefined;
    errors: TRPCError[];
    ctx?: Context;
  }) => {
    const headers: Record<string, string> = {};
    let unknownStatus: number | undefined;
    const ignored = info && findIgnoredInCalls(known, info);
    if (ignored) headers['x-ignored-members'] = ignored;
    for (const error of errors) {
      const { status, retryAfterSeconds } = describeFailure(error, ctx?.request.id ?? '');
      if (status === 401) headers['www-authenticate'] = 'Bearer';
      // tRPC has no code for it, and would answer 500.
      if (status === 507 && !info?.isBatchCall) unknownStatus = status;
      if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
    }
    return { headers, ...(unknownStatus && { status: unknownStatus }) } satisfies ResponseMeta;
  };
}

/** In a batch, the number of the call stands before the name. */
function findIgnoredInCalls(
  known: Map<string, Known | null>,
  { calls }: TRPCRequestInfo,
): string | undefined {
  const names = calls.flatMap((call, index) => {
    const prefix = calls.length > 1 ? String(index) : '';
    return [...(findIgnored(known.get(call.path) ?? null, call.result(), prefix) ?? [])];
  });
  return names.length > 0 ? ignoredHeader(names) : undefined;
}

/** Whether frames of a client broke the protocol or its limits: that closes its socket, and nothing of ours failed. */
const isBrokenFrame = ({ cause }: TRPCError): boolean =>
  cause instanceof Error && 'code' in cause && String(cause.code).startsWith('WS_ERR_');

/** Whether a socket's credentials are accepted. */
async function isSomebody({ parts, credentials, request, reply }: Context): Promise<boolean> {
  if (!credentials) return false;
  try {
    await parts.authenticate(credentials, request, () => [], reply.identified);
    return true;
  } catch (error) {
    // What such a key may reach is asked at each call; a database that is away says nothing of anybody.
    return appErrorIn(error)?.code !== 'unauthenticated';
  }
}

/** Closes the sockets that have not shown for so long whose they are. A timer for each would be memory that all of them take. */
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

export interface TrpcSockets {
  /** How many are open. */
  readonly size: number;
  /** Tells clients to come back, and resolves when none is left, at most some seconds later. */
  close(): Promise<void>;
}

/**
 * tRPC over WebSocket. The credentials are those of `connectionParams.token`, else of the upgrade request; they
 * are kept for the connection, and each call resolves them anew.
 */
export function mountTrpcSockets(options: {
  server: Server;
  parts: Parts;
  router: AnyRouter;
  path?: string;
  /** How long a socket may stay without credentials that are anybody's: time for a sign-up or sign-in. */
  anonymousMs?: number;
}): TrpcSockets {
  const { server, parts, router, path = TRPC_PATH, anonymousMs = 10_000 } = options;
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: LIMITS.bodyBytes,
    // Each is kept until the message is whole, and takes hundreds of bytes for one that it brings.
    maxFragments: 1024,
    maxBufferedChunks: 16 * 1024,
    perMessageDeflate: false,
    // One frame of a socket in a turn of the event loop, pings included.
    allowSynchronousEvents: false,
    WebSocket: FrameSocket,
  });
  wss.on('headers', (headers, request) => {
    for (const [name, value] of Object.entries(upgradeHeaders(request))) headers.push(`${name}: ${value}`);
  });
  const judge = keepSweeping(
    Math.min(anonymousMs / 2, JUDGE_EVERY_MS),
    () => closeUnproved(wss.clients, performance.now() - anonymousMs),
    (error) => parts.log.error({ err: error }, 'Sockets without credentials could not be judged.'),
  );
  let isClosing = false;
  applyWSSHandler({
    wss,
    router,
    maxBatchSize: MAX_BATCH_SIZE,
    experimental_encoder: textEncoder,
    keepAlive: { enabled: true, pingMs: 30_000, pongWaitMs: 10_000 },
    createContext({ req, res, info }) {
      const context = buildSocketContext(parts, req, info.connectionParams?.token);
      // The adapter keeps the request for as long as the connection, and all that it says is in the context by now.
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
    },
    onError({ error, path, req }) {
      if (!isBrokenFrame(error)) report(parts, error, path, requestIdOf(req));
    },
  });
  onUpgrade(server, path, (request: IncomingMessage, socket, head) => {
    if (isClosing) return refuseUpgrade(request, socket, 'unavailable');
    // The adapter makes an address of these when a socket connects, where nobody catches: one bad header would end the process.
    if (!URL.canParse(request.url ?? '', `http://${request.headers.host}`))
      return refuseUpgrade(request, socket, 'bad_request');
    wss.handleUpgrade(request, socket, head, (client) => {
      client.connection = socket;
      client.prove = async () => client.context !== undefined && isSomebody(client.context);
      wss.emit('connection', client, request);
    });
  });
  return {
    get size() {
      return wss.clients.size;
    },
    async close() {
      isClosing = true;
      await closeInSpread(wss.clients, (client) => {
        client.send(RECONNECT);
        client.close(1001, 'The server stops');
      });
      const cut = setTimeout(() => {
        for (const client of wss.clients) client.terminate();
      }, CLOSE_GRACE_MS);
      await new Promise((resolve) => wss.close(resolve));
      clearTimeout(cut);
      await judge.close();
    },
  };
}
