import { initTRPC, type TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { ZodError } from 'zod';
import type { $ZodType } from 'zod/v4/core';
import { type Access, cutPath, type Level, type Reach } from '../access.ts';
import { AppError } from '../errors.ts';
import { describeFailure, type Failure } from '../failure.ts';
import { networkCaller, runCall } from '../limits/calls.ts';
import { dropNulls, join, planNulls } from '../nulls.ts';
import {
  type Actor,
  type Credentials,
  createScope,
  type Parts,
  type Reply,
  type RequestInfo,
  type Scope,
} from '../scope.ts';
import { translated } from './trpc.errors.ts';

/**
 * What a door hands to a procedure. Built once per HTTP request and once per WebSocket connection, so it holds
 * credentials and never who they belong to: that is asked anew by every call.
 */
export interface Context {
  parts: Parts;
  request: RequestInfo;
  credentials: Credentials | null;
  reply: Reply;
  /** Of the request's body, as far as known. */
  bytes?: number | undefined;
  /** Ends with the connection, where its calls have no signal that does. */
  signal?: AbortSignal | undefined;
}

/** What the REST bridge needs beyond `trpc-to-openapi`'s own meta. */
interface RestMeta {
  /** Status of success; 200 unless told. */
  status?: 201;
  /** The REST body is this input member itself, a free-form object, and not an object that holds it. */
  bodyMember?: string;
  /** With `bodyMember`: a body that is an object with that one member is taken as the tRPC input itself. */
  acceptWrapped?: true;
}

export interface Meta {
  openapi?: NonNullable<OpenApiMeta['openapi']> & RestMeta;
  /** The declared rule; see `Access`. */
  access: Access;
  /** Set by the base procedure: what is enforced before the input is even looked at. */
  level?: Level;
  /** A query that may change something, because clients of comparable systems ask so: the rules of a mutation hold. */
  changes?: true;
  /** The most bytes that a body may have; what the input can hold unless given. */
  bodyBytes?: number;
  /** A mutation that is let through while the disk has hardly any room: it frees some, or takes little and is needed then. */
  whenFull?: true;
  /** A sign-in alone may do this, no API key. */
  credential?: 'session';
  /** Missing or ended credentials are no failure: the call goes on without an actor. */
  withoutActor?: true;
  /** The paths that it counts as for an API key which is bound to some; that of `openapi` unless given. */
  reaches?: readonly string[];
}

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    // Subscriptions have their doors; a stream over HTTP would be one more, past the switch of `ENABLE_WEBSOCKET_SUPPORT`.
    sse: { enabled: false },
    errorFormatter({ shape, error, ctx }) {
      const { body, status } = describeFailure(error, ctx?.request.id ?? '');
      return {
        ...shape,
        message: body.detail,
        data: { code: shape.data.code, httpStatus: status, path: shape.data.path, ...errorData(body) },
      };
    },
  });

/** `code` is tRPC's own word in `data`; ours goes beside it. */
const errorData = ({ code, ...body }: Failure['body']) => ({ ...body, error_code: code });

type AskReach = Parameters<Parts['authenticate']>[2];

/** Who the credentials of a connection belong to now. @throws AppError when there are none, or they may not reach that */
async function identify(ctx: Context, reach: AskReach): Promise<Actor> {
  if (!ctx.credentials) throw new AppError('unauthenticated');
  return ctx.parts.authenticate(ctx.credentials, ctx.request, reach, ctx.reply.identified);
}

/** What a call reaches: the paths of its procedure, with what was sent in place of their parameters. */
async function reachOf(meta: Meta | undefined, getRawInput: () => Promise<unknown>): Promise<Reach> {
  const paths = meta?.reaches ?? (meta?.openapi ? [`/api${meta.openapi.path}`] : []);
  const input = paths.some((path) => path.includes('{')) ? await getRawInput() : undefined;
  const filled = (segment: string) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return segment;
    const value = (input as Record<string, unknown> | null | undefined)?.[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return paths.map((path) => cutPath(path).map(filled));
}

/**
 * Whether an input was refused for what stands in place of a parameter of the path: that has the form of no id, so nothing is there,
 * whatever is wrong besides.
 */
async function namesNothing(
  meta: Meta | undefined,
  { code, cause }: TRPCError,
  getRawInput: () => Promise<unknown>,
): Promise<boolean> {
  if (code !== 'BAD_REQUEST' || !(cause instanceof ZodError) || !meta?.openapi) return false;
  const { path } = meta.openapi;
  const input = (await getRawInput()) as Record<string, unknown> | undefined;
  return cause.issues.some(
    ({ path: [name] }) =>
      typeof name === 'string' && path.includes(`{${name}}`) && typeof input?.[name] === 'string',
  );
}

const ADMITTED: Record<Exclude<Level, 'open'>, (actor: Actor) => AppError | undefined> = {
  account: () => undefined,
  member: (actor) => (actor.role === 'pending' ? new AppError('account_pending') : undefined),
  administrator: (actor) =>
    ADMITTED.member(actor) ?? (actor.role === 'admin' ? undefined : new AppError('forbidden')),
};

/** For doors that are no procedures: who is on a connection, when they were let in. @throws AppError */
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

/** Resolves who calls and lets them in or not. Never trusts a browser's cookie alone with a change. */
async function admit(ctx: Context, call: Call): Promise<Actor | null> {
  const { level, type, reach, credential } = call;
  // tRPC refuses a subscription by HTTP only when it has been opened, and then nobody would ever close it.
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
 * Refuses who may not make a call whatever they send, before what they send is read. The call itself asks again, and then also what
 * an API key may do and reach.
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
async function enter<A extends Actor | null>(
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

/** Runs what an admitted call does, when its caller has a turn. @throws rate_limited when too many calls of the caller wait */
const runAdmitted = <T>(
  ctx: Context,
  { actor, signal }: Scope<Actor | null>,
  work: () => T | Promise<T>,
): Promise<T> => runCall(actor?.id ?? networkCaller(ctx.request.ip), { bytes: ctx.bytes, signal }, work);

/** Admits a call that is no procedure, by the same rules, and runs it. @throws AppError */
export async function answerCall<A extends Actor | null, T>(
  ctx: Context,
  call: Call,
  work: (scope: Scope<A>) => T | Promise<T>,
): Promise<T> {
  const scope = await enter<A>(ctx, call);
  return runAdmitted(ctx, scope, () => work(scope));
}

/** Whether a mutation is let through on a full disk. What administrators do takes little, and may be what ends the trouble. */
export const isWhenFull = (meta: Meta | undefined, level = meta?.level): boolean =>
  meta?.whenFull ?? (meta?.openapi?.method === 'DELETE' || level === 'administrator');

/** A further rule of a base, asked before the input is looked at. @throws AppError to refuse the call */
type Check<A extends Actor | null> = (scope: Scope<A>) => void;

/**
 * The base of every procedure of a level: admits the caller, gives the call its scope, and turns what services throw
 * into tRPC's errors. `next()` never rejects: it resolves with `ok: false`.
 */
const guard = <A extends Actor | null>(level: Level, check?: Check<A>) =>
  t.middleware(async ({ ctx, next, type, signal, meta, getRawInput }) => {
    const end = ctx.reply.begin?.();
    try {
      const reach = () => reachOf(meta, getRawInput);
      const effect = meta?.changes ? 'mutation' : type;
      // Over a socket, tRPC's own fires for subscriptions alone.
      const ending = type === 'subscription' ? signal : (ctx.signal ?? signal);
      const { credential, withoutActor } = meta ?? {};
      const whenFull = isWhenFull(meta, level);
      const call = { level, type: effect, signal: ending, reach, credential, withoutActor, whenFull };
      const reply = type === 'subscription' ? ctx.reply.forCall?.(await getRawInput()) : undefined;
      const scope = await enter<A>(ctx, call, reply);
      check?.(scope);
      const result = await runAdmitted(ctx, scope, () => next({ ctx: { scope } }));
      if (result.ok) return result;
      if (await namesNothing(meta, result.error, getRawInput)) throw new AppError('not_found');
      throw result.error;
    } catch (error) {
      throw translated(error);
    } finally {
      end?.();
    }
  });

const base = <A extends Actor | null>(level: Level, check?: Check<A>) => {
  const asked = guard<A>(level, check);
  // Told to `test/contract/procedures.test.ts`, which finds it at the beginning of every procedure.
  for (const middleware of asked._middlewares) Object.assign(middleware, { level });
  return t.procedure.meta({ access: level, level }).use(asked);
};

/** Anyone. The scope names no actor. */
export const open = base<null>('open');
/** Any account, `pending` included. */
export const account = base<Actor>('account');
/** The same; the scope names no actor where the credentials are missing or have ended. */
export const accountIfAny = base<Actor | null>('account').meta({ access: 'account', withoutActor: true });
/** An account that was let in. */
export const member = base<Actor>('member');
/** The same for the procedures of a noun that asks more: not a middleware of its own, each of which copies the call. */
export const memberWith = (check: Check<Actor>) => base<Actor>('member', check);
/** Administrators only. */
export const administrator = base<Actor>('administrator');

interface ProcedureCall {
  (options: { getRawInput: () => Promise<unknown> }): Promise<unknown>;
  _def: { inputs: readonly $ZodType[] };
}

/** The same procedure, for which null in place of an optional member counts as not sent. */
function withoutNulls(procedure: ProcedureCall): ProcedureCall {
  const nulls = join(procedure._def.inputs.map((input) => planNulls(input)));
  if (!nulls) return procedure;
  const call = (options: Parameters<ProcedureCall>[0]) =>
    procedure({ ...options, getRawInput: async () => dropNulls(nulls, await options.getRawInput()) });
  return Object.assign(call, procedure);
}

/** A router of procedures, and of routers. */
export const router: typeof t.router = (record) => {
  // tRPC keeps the inputs and the call of a procedure out of its public types.
  const entries = Object.entries(record as Record<string, ProcedureCall | object>);
  const tolerant = entries.map(([name, item]) => [
    name,
    typeof item === 'function' ? withoutNulls(item as ProcedureCall) : item,
  ]);
  return t.router(Object.fromEntries(tolerant) as typeof record);
};
