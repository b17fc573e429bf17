import type { AnyRouter, TRPCError } from '@trpc/server';
import { type FastifyHandlerOptions, fastifyRequestHandler } from '@trpc/server/adapters/fastify';
import type { ResponseMeta, TRPCRequestInfo } from '@trpc/server/http';
import { getErrorShape } from '@trpc/server/shared';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { describeFailure } from '../../core/failure.ts';
import type { Parts } from '../../core/scope.ts';
import type { Context } from '../../core/trpc/admission.ts';
import { toTrpcError } from '../../core/trpc/trpc.errors.ts';
import { discardRest } from '../http/bodies.ts';
import { buildHttpContext } from '../http/context.ts';
import { findIgnored, ignoredHeader, type Known, planKnownInput } from '../http/ignored.ts';
import { listProcedures } from '../http/procedures.ts';
import { reportFailure } from '../http/report.ts';
import { MAX_BATCH_SIZE, readCalls } from './trpc.bodies.ts';
import { putTexts, takeTexts } from './trpc.texts.ts';

export const TRPC_PATH = '/trpc';

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
  // In a scope of its own: tRPC parses JSON itself, and other routes keep their parser.
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

export function report(parts: Parts, error: TRPCError, path: string | undefined, requestId: string): void {
  reportFailure(parts.log, describeFailure(error, requestId), error, { requestId, route: path });
}

/** The headers of failures and ignored members, as at the REST door. */
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
      // tRPC has no code for 507 and would answer 500.
      if (status === 507 && !info?.isBatchCall) unknownStatus = status;
      if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
    }
    return { headers, ...(unknownStatus && { status: unknownStatus }) } satisfies ResponseMeta;
  };
}

/** The ignored members of all calls. In a batch, the number of the call stands before the name. */
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
