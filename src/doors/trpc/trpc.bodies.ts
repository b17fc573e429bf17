import type { IncomingMessage } from 'node:http';
import type { AnyRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkJsonText } from '../../core/json/incoming.ts';
import type { Parts } from '../../core/scope.ts';
import { admitBeforeInput, type Context } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { bodyLimitOf } from '../http/bodies.limits.ts';
import { bringsBody, readText } from '../http/bodies.ts';
import { buildHttpContext } from '../http/context.ts';
import { listProcedures, type Procedure } from '../http/procedures.ts';

/** Calls in one batch, by either transport. Clients must set `maxItems` no higher. */
export const MAX_BATCH_SIZE = 20;

/** The most bytes of the body of a request, computed from its calls. */
const limits = new WeakMap<IncomingMessage, number>();

/** Makes a scope of routes read the bodies of tRPC calls as text, each within the limit of the procedures that it calls. */
export function readCalls(scope: FastifyInstance, parts: Parts, router: AnyRouter): void {
  const known = new Map(listProcedures(router).map((procedure) => [procedure.path, procedure]));

  /** The procedures that a request calls; undefined stands for one that does not exist. */
  function callsOf(request: FastifyRequest): (Procedure | undefined)[] {
    const { path } = request.params as { path: string };
    const paths = (request.query as { batch?: string }).batch === '1' ? path.split(',') : [path];
    return paths.slice(0, MAX_BATCH_SIZE).map((name) => known.get(name));
  }

  scope.addHook('onRequest', async (request, reply) => {
    if (!bringsBody(request.raw)) return;
    const context = buildHttpContext(parts, request, reply);
    limits.set(request.raw, await weighCalls(callsOf(request), context));
  });
  scope.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const body = await readText(request.raw, payload, limits.get(request.raw) ?? 0);
      checkJsonText(body);
      return body;
    },
  );
}

/**
 * The most bytes of a body with these calls: the sum of their limits. A call that will be refused gets the limit of callers without
 * credentials.
 *
 * @throws AppError when all of them will be refused
 */
async function weighCalls(calls: (Procedure | undefined)[], context: Context): Promise<number> {
  let bytes = 0;
  const refusals: unknown[] = [];
  for (const procedure of calls) {
    const refusal =
      procedure && (await admitBeforeInput(context, procedure).catch((error: unknown) => error));
    if (refusal) refusals.push(refusal);
    bytes += procedure && !refusal ? bodyLimitOf(procedure) : LIMITS.openBodyBytes;
  }
  if (refusals.length === calls.length) throw refusals[0];
  return Math.min(bytes, LIMITS.bodyBytes);
}
