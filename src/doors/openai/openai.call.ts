import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { untilStart } from '../../completions/starts.ts';
import type { Reach } from '../../core/access.ts';
import { AppError, invalidMembers } from '../../core/errors.ts';
import { describeIssues } from '../../core/failure.ts';
import { type JsonBounds, parseJsonText } from '../../core/json/incoming.ts';
import type { Actor, Parts, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import type { ResolvedModel } from '../../models/models.resolve.ts';
import type { LargeBodies } from '../http/bodies.large.ts';
import { buildHttpContext } from '../http/context.ts';
import { signalOf } from '../rest/rest.ts';
import { CallRights } from './openai.rights.ts';

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
  /** The model that the call uses from now on. @throws model_not_found */
  resolveModel(id: string): Promise<ResolvedModel>;
  /** Aborts when the client goes away, and when the caller loses the session, the key or the right to the model. */
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
      // Before the body is read, which may take minutes.
      const rights = new CallRights(scope);
      const resolveModel = (id: string) => rights.resolveModel(id);
      const signal = AbortSignal.any([gone, rights.lost]);
      let release = () => {};
      try {
        await untilStart();
        const held = await bodies.read(request, scope.actor.id, MAX_BYTES);
        release = held.release;
        signal.throwIfAborted();
        const body = parseBody(held.text, schema, bounds);
        return await work({ scope, body, request, reply, resolveModel, signal });
      } finally {
        rights.close();
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
