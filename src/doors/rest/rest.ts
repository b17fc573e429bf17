import type { AnyRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { Json } from '../../core/json/json.ts';
import type { Parts } from '../../core/scope.ts';
import { bodyLimitOf } from '../http/bodies.limits.ts';
import { admitBeforeBody } from '../http/bodies.ts';
import { buildHttpContext } from '../http/context.ts';
import { ignoredHeader } from '../http/ignored.ts';
import { listProcedures, type Procedure } from '../http/procedures.ts';
import { planInput } from './rest.input.ts';

/** Of every REST path as the document lists it. */
export const REST_PREFIX = '/api/v1';

/** A path as the document lists it: every one answers below `/api`, too. So each route exists once. */
export const toRestPath = (path: string): string => path.replace(/^\/api(?!\/v1\/)(?=\/)/, REST_PREFIX);

/**
 * Makes a route of every procedure that has `meta.openapi`. The plan for its input is made once, here; a request
 * reads its input by that plan and calls the procedure. Fastify's router prefers static paths to parameters, and a
 * path that is declared twice stops the start.
 */
export function mountRest(app: FastifyInstance, parts: Parts, router: AnyRouter): void {
  for (const procedure of listProcedures(router)) {
    const rest = procedure.meta?.openapi;
    if (!rest) continue;
    const path = rest.path.replace(/\/$/, '').replaceAll(/\{(\w+)\}/g, ':$1');
    const handler = handlerOf(procedure, parts, rest.status ?? 200);
    const bodyLimit = bodyLimitOf(procedure);
    // The body of a GET is never read.
    const hooks = rest.method === 'GET' ? {} : { onRequest: admitBeforeBody(parts, procedure) };
    for (const prefix of rest.isAtRoot ? [REST_PREFIX, ''] : [REST_PREFIX])
      app.route({ method: rest.method, url: prefix + path, bodyLimit, ...hooks, handler });
  }
}

function handlerOf(procedure: Procedure, parts: Parts, status: number): RouteHandlerMethod {
  const { path, type, call } = procedure;
  const readInput = planInput(procedure);
  return async (request, reply) => {
    const { input, ignored } = readInput(request);
    if (ignored) reply.header('x-ignored-members', ignoredHeader(ignored));
    const output = await call({
      ctx: buildHttpContext(parts, request, reply),
      path,
      type,
      input: undefined,
      getRawInput: async () => input,
      signal: signalOf(reply),
      batchIndex: 0,
    });
    const isText = output instanceof Json;
    if (isText && output.etag && isUnchanged(request, reply, output.etag)) return reply.code(304).send();
    reply.code(status).header('content-type', 'application/json; charset=utf-8');
    return isText ? output.text : JSON.stringify(output ?? null);
  };
}

/** Whether the caller has the answer with this tag. The caller may keep answers, and asks each time whether they changed. */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  const known = request.headers['if-none-match']?.split(',') ?? [];
  return known.some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Aborts when the caller goes away before the answer. A finished answer closes as well and does not abort. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
