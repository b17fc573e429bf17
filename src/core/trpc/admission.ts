import type { Level, Reach } from '../access.ts';
import { AppError } from '../errors.ts';
import { networkCaller, runCall } from '../limits/calls.ts';
import {
  type Actor,
  type Credentials,
  createScope,
  type Parts,
  type Reply,
  type RequestInfo,
  type Scope,
} from '../scope.ts';
import { type Root, traceWork } from '../tracing.ts';
import type { Meta } from './meta.ts';

/**
 * What a door hands to a procedure. Built once per HTTP request and once per WebSocket connection, so it holds
 * credentials and never their account: each call looks that up anew.
 */
export interface Context {
  parts: Parts;
  request: RequestInfo;
  credentials: Credentials | null;
  reply: Reply;
  /** Size of the request's body, when known. */
  bytes?: number | undefined;
  /** Aborts at the end of the connection, where its calls have no signal of their own. */
  signal?: AbortSignal | undefined;
}

export type AskReach = Parameters<Parts['authenticate']>[2];

/** The account that the credentials belong to now. @throws AppError when there are none, or they may not reach these paths */
async function identify(ctx: Context, reach: AskReach): Promise<Actor> {
  if (!ctx.credentials) throw new AppError('unauthenticated');
  return ctx.parts.authenticate(ctx.credentials, ctx.request, reach, ctx.reply.identified);
}

const ADMITTED: Record<Exclude<Level, 'open'>, (actor: Actor) => AppError | undefined> = {
  account: () => undefined,
  member: (actor) => (actor.role === 'pending' ? new AppError('account_pending') : undefined),
  administrator: (actor) =>
    ADMITTED.member(actor) ?? (actor.role === 'admin' ? undefined : new AppError('forbidden')),
};

/** For doors without procedures: the account of a connection, when it is admitted. @throws AppError */
export async function admitMember(ctx: Context, reach: Reach): Promise<Actor> {
  const actor = await identify(ctx, () => reach);
  const refusal = ADMITTED.member(actor);
  if (refusal) throw refusal;
  return actor;
}

interface Call {
  level: Level;
  type: string;
  signal: AbortSignal | undefined;
  reach: AskReach;
  credential?: 'session' | undefined;
  withoutActor?: true | undefined;
  whenFull?: boolean | undefined;
}

/** As `identify`; null for missing or ended credentials. */
async function identifyIfAny(ctx: Context, reach: AskReach): Promise<Actor | null> {
  try {
    return await identify(ctx, reach);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null;
    throw error;
  }
}

/** Looks up the caller and decides whether the call may go on. A browser's cookie alone never suffices for a change. */
async function admit(ctx: Context, call: Call): Promise<Actor | null> {
  const { level, type, reach, credential } = call;
  // tRPC refuses a subscription over HTTP only after it was opened, and then never closes it.
  if (type === 'subscription' && !ctx.reply.outlet) throw new AppError('method_not_allowed');
  if (level === 'open') return null;
  const actor = await (call.withoutActor ? identifyIfAny : identify)(ctx, reach);
  if (!actor) return null;
  if (credential === 'session' && actor.sessionId === null) throw new AppError('session_required');
  if (type === 'mutation' && ctx.credentials?.via === 'cookie' && !ctx.request.sameOrigin) {
    throw new AppError('origin_forbidden');
  }
  const refusal = ADMITTED[level](actor);
  if (refusal) throw refusal;
  return actor;
}

/**
 * Refuses callers that may not make a call at all, before their input is read. The call itself checks again, and then also what an
 * API key may do and reach.
 *
 * @throws AppError
 */
export async function admitBeforeInput(
  ctx: Context,
  { meta, type }: { meta: Meta | undefined; type: string },
): Promise<void> {
  const { level = 'open' } = meta ?? {};
  await admit(ctx, {
    level,
    type: meta?.changes ? 'mutation' : type,
    signal: undefined,
    reach: null,
  });
}

/** Admits the caller of one call and gives it its scope. @throws AppError */
export async function enter<A extends Actor | null>(
  ctx: Context,
  call: Call,
  reply: Reply = ctx.reply,
): Promise<Scope<A>> {
  const actor = (await admit(ctx, call)) as A;
  const { parts, request } = ctx;
  if (call.type === 'mutation' && !call.whenFull) parts.room.require();
  return createScope<A>({
    parts,
    actor,
    request,
    reply,
    async identify(besides) {
      const actor = await identify(ctx, call.reach);
      return besides ? identify(ctx, () => besides) : actor;
    },
    signal: call.signal,
  });
}

/** Runs an admitted call when its caller has a turn. @throws rate_limited when too many calls of the caller wait */
export const runAdmitted = <T>(
  ctx: Context,
  { actor, signal }: Scope<Actor | null>,
  work: () => T | Promise<T>,
): Promise<T> => runCall(actor?.id ?? networkCaller(ctx.request.ip), { bytes: ctx.bytes, signal }, work);

/**
 * Runs a call for its request: its log lines have the id of the request, and its trace has the name.
 *
 * @param name the method and the route unless given
 */
export const runForRequest = <T>(
  { request }: Pick<Context, 'request'>,
  name: string | undefined,
  work: () => Promise<T>,
): Promise<T> => traceWork(request.id, () => describeCall(request, name), work);

function describeCall({ id, arrival }: RequestInfo, name: string | undefined): Root {
  const { method, route, traceparent, isFromProxy } = arrival?.() ?? { route: undefined, isFromProxy: false };
  return {
    name: name ?? [method, route].filter(Boolean).join(' '),
    kind: 'server',
    attributes: {
      'parley.request_id': id,
      ...(method ? { 'http.request.method': method } : { 'network.protocol.name': 'websocket' }),
      ...(route && { 'http.route': route }),
    },
    caller: traceparent === undefined ? undefined : { traceparent, isTrusted: isFromProxy },
  };
}

/** Admits a call that is no procedure by the same rules, and runs it. @throws AppError */
export const answerCall = <A extends Actor | null, T>(
  ctx: Context,
  call: Call,
  work: (scope: Scope<A>) => T | Promise<T>,
): Promise<T> =>
  runForRequest(ctx, undefined, async () => {
    const scope = await enter<A>(ctx, call);
    return runAdmitted(ctx, scope, () => work(scope));
  });
