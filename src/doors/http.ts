import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import type { AnyRouter } from '@trpc/server';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError, ERRORS } from '../core/errors.ts';
import { describeFailure } from '../core/failure.ts';
import { parseJsonText } from '../core/json/incoming.ts';
import type { Parts } from '../core/scope.ts';
import { LIMITS } from '../core/wire.ts';
import type { Env } from '../env.ts';
import { mountFiles } from './files/files.ts';
import { mountImports } from './files/imports.ts';
import { mountPictures } from './files/pictures.ts';
import { cutSlowBodies } from './http/bodies.arriving.ts';
import { createLargeBodies } from './http/bodies.large.ts';
import { discardRest, refuseCrumbs } from './http/bodies.ts';
import { failureBody } from './http/failures.ts';
import { collectMethods } from './http/http.methods.ts';
import { serializeRequests } from './http/http.pipelining.ts';
import { rawAnswer } from './http/http.raw.ts';
import { nextRequestId, requestIdOf, TimedResponse } from './http/http.response.ts';
import { dispatchUpgrades } from './http/http.upgrade.ts';
import { reportFailure } from './http/report.ts';
import { mountMessages } from './messages/messages.ts';
import { countRequests } from './metrics/metrics.http.ts';
import { mountOAuth } from './oauth/oauth.ts';
import { mountOpenAi } from './openai/openai.ts';
import { mountPage } from './page/page.ts';
import { mountRest, toRestPath } from './rest/rest.ts';
import { mountTrpc } from './trpc/trpc.ts';

export interface HttpOptions {
  parts: Parts;
  env: Pick<Env, 'ENV' | 'CORS_ALLOW_ORIGIN'>;
  router: AnyRouter;
}

/** How long a stopping server waits for answers that have begun. */
const CLOSE_GRACE_MS = 5000;
const CLOSE_IDLE_MS = 50;

/**
 * The HTTP server with its doors: REST, tRPC and, with `ENV=dev`, the docs. It does not listen yet, so that
 * plain routes and sockets can be added; paths of sockets through `onUpgrade` (`http.upgrade.ts`).
 */
export async function createHttp({ parts, env, router }: HttpOptions): Promise<FastifyInstance> {
  // Schemas refuse long parameters. A batch of tRPC calls is one long parameter.
  const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 16_384 };
  const app = fastify({
    bodyLimit: LIMITS.bodyBytes,
    routerOptions,
    rewriteUrl: ({ url = '' }) => toRestPath(url),
    http: {
      ServerResponse: TimedResponse,
      // A client may offer any protocol (curl and Java offer h2c). An unknown one is ignored and the request answered.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    requestTimeout: 300_000,
    // `closeInTime` refuses such calls in our own form.
    return503OnClosing: false,
    genReqId: (request) => requestIdOf(request as IncomingMessage),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => answerFailure(parts, error, request, reply),
  });
  const methodsAt = collectMethods(app, routerOptions);
  dispatchUpgrades(app.server);
  app.setErrorHandler((error, request, reply) => answerFailure(parts, error, request, reply));
  acceptJson(app);
  refuseCrumbs(app);
  cutSlowBodies(app);
  await allowOrigins(app, env.CORS_ALLOW_ORIGIN);
  refuseUnknown(app, methodsAt);
  countRequests(app);
  closeInTime(app);
  // Last, because it replaces all listeners for requests that exist by then.
  app.addHook('onReady', (done) => {
    serializeRequests(app.server);
    done();
  });

  mountRest(app, parts, router);
  await mountFiles(app, parts);
  await mountImports(app, parts);
  mountPictures(app, parts);
  const door = { parts, bodies: createLargeBodies() };
  await mountOpenAi(app, door);
  await mountMessages(app, door);
  await mountPage(app);
  await mountOAuth(app, parts);
  await mountTrpc(app, parts, router);
  // The generator of the document takes 40 MB, which only a developer's server needs.
  if (env.ENV === 'dev') (await import('./docs/docs.ts')).mountDocs(app, router);
  return app;
}

function answerFailure(parts: Parts, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const failure = describeFailure(error, request.id);
  // The caller hung up while sending: no client reads the answer, and the server has not failed.
  if (!request.raw.destroyed || request.raw.complete) {
    reportFailure(parts.log, failure, error, { requestId: request.id, route: request.routeOptions.url });
  }
  discardRest(request, reply);
  if (failure.status === 401) reply.header('www-authenticate', 'Bearer');
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds);
  reply.code(failure.status).header('content-type', 'application/json; charset=utf-8');
  return reply.send(JSON.stringify(failureBody(request.url, failure, request.id)));
}

/** Many clients send `Content-Type: application/json` without a body. That is not malformed JSON. */
function acceptJson(app: FastifyInstance) {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : parseJsonText(body));
    } catch (error) {
      done(
        error instanceof SyntaxError ? new AppError('malformed_json', { cause: error }) : (error as Error),
      );
    }
  });
}

async function allowOrigins(app: FastifyInstance, origins: readonly string[]) {
  if (origins.length === 0) return;
  const any = origins.includes('*');
  await app.register(cors, {
    origin: any ? '*' : [...origins],
    // With `*`, browsers must not send the cookie.
    credentials: !any,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'X-Process-Time',
      'X-Request-Id',
      'X-Ignored-Members',
      'X-Changed-Settings',
      'Retry-After',
    ],
    maxAge: 600,
    strictPreflight: false,
  });
}

/** Refuses unknown addresses and methods before the body is read. */
function refuseUnknown(app: FastifyInstance, methodsAt: (url: string) => ReadonlySet<string>) {
  app.addHook('onRequest', (request, reply, done) => {
    const methods = methodsAt(request.url);
    if (methods.size === 0) return done(new AppError('not_found'));
    if (methods.has(request.method)) return done();
    reply.header('allow', [...[...methods].sort(), 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') return done(new AppError('method_not_allowed'));
    reply.code(204).send();
  });
}

/**
 * Refuses calls that come while the server stops, and closes connections in time: a stream would hold the server open as long as its
 * client reads, and an idle connection as long as it is kept alive.
 */
function closeInTime(app: FastifyInstance) {
  let isClosing = false;
  app.addHook('onRequest', (_request, _reply, done) => {
    done(isClosing ? new AppError('unavailable', { retryAfterSeconds: 1 }) : undefined);
  });
  app.addHook('preClose', (done) => {
    isClosing = true;
    const idle = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_MS).unref();
    setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS).unref();
    app.server.once('close', () => clearInterval(idle));
    done();
  });
}

const CLIENT_ERRORS: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Answers what Node's parser refuses. No request exists yet, so the answer is written by hand. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0)
    return socket.destroy(error);
  const status = CLIENT_ERRORS[error.code ?? ''] ?? 400;
  socket.end(rawAnswer(status, { detail: ERRORS.bad_request.detail, code: 'bad_request' }, nextRequestId()));
}
