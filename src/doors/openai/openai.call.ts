import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { watchCaller } from '../../auth/watch.ts';
import type { Reach } from '../../core/access.ts';
import { AppError, invalidMembers } from '../../core/errors.ts';
import { describeIssues } from '../../core/failure.ts';
import { type JsonBounds, parseJsonText } from '../../core/json/incoming.ts';
import type { Actor, Parts, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import type { LargeBodies } from '../http/bodies.large.ts';
import { buildHttpContext } from '../http/context.ts';
import { signalOf } from '../rest/rest.ts';

/** Images are in the bodies, as text. */
const MAX_BYTES = 32 * 1024 ** 2;

export interface Door {
  parts: Parts;
  bodies: LargeBodies;
}

/** One call of a route whose body is JSON. */
export interface Exchange<Body> {
  scope: Scope;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Aborts when the client goes away, or the caller's session or key is ended. */
  signal: AbortSignal;
}

interface Options<Schema extends z.ZodType> {
  schema: Schema;
  reach: Reach;
  bounds?: Partial<JsonBounds>;
}

/**
 * A handler that admits the caller by the rules of a mutation, and then reads and checks its body.
 *
 * @param work gets the body as it came, without a copy
 */
export const jsonHandler =
  <Schema extends z.ZodType>(
    { parts, bodies }: Door,
    { schema, reach, bounds }: Options<Schema>,
    work: (exchange: Exchange<z.output<Schema>>) => Promise<unknown>,
  ) =>
  (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const gone = signalOf(reply);
    const call = { level: 'member', type: 'mutation', signal: gone, reach: () => reach } as const;
    // Size 0: the body is not read while the call waits for its turn.
    const context = { ...buildHttpContext(parts, request, reply), bytes: 0 };
    return answerCall<Actor, unknown>(context, call, async (scope) => {
      const { text, release } = await bodies.read(request, scope.actor.id, MAX_BYTES);
      const ended = new AbortController();
      const end = (failure: AppError) => ended.abort(failure);
      const unwatch = watchCaller(parts.bus, { actorOf: () => scope.actor, recheck: () => {}, end });
      const signal = AbortSignal.any([gone, ended.signal]);
      try {
        return await work({ scope, body: parseBody(text, schema, bounds), request, reply, signal });
      } finally {
        unwatch();
        release();
      }
    });
  };

/** @throws malformed_json, bad_request, validation */
function parseBody<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  bounds: Partial<JsonBounds> | undefined,
): z.output<Schema> {
  const body = parse(text, bounds);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalidMembers(describeIssues(parsed.error));
  return body as z.output<Schema>;
}

function parse(text: string, bounds: Partial<JsonBounds> | undefined): unknown {
  try {
    return parseJsonText(text, bounds);
  } catch (cause) {
    throw cause instanceof SyntaxError ? new AppError('malformed_json', { cause }) : cause;
  }
}
