import { initTRPC, type TRPCError } from '@trpc/server';
import { ZodError } from 'zod';
import type { $ZodType } from 'zod/v4/core';
import { cutPath, type Level, type Reach } from '../access.ts';
import { AppError } from '../errors.ts';
import { describeFailure, type Failure } from '../failure.ts';
import { dropNulls, join, planNulls } from '../schema/nulls.ts';
import type { Actor, Scope } from '../scope.ts';
import { type Context, enter, runAdmitted, runForRequest } from './admission.ts';
import { isWhenFull, type Meta } from './meta.ts';
import { translated } from './trpc.errors.ts';

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    // A stream over HTTP would be another door for subscriptions, which `ENABLE_WEBSOCKET_SUPPORT` does not switch off.
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

/** tRPC has its own `code` in `data`; ours is `error_code`. */
const errorData = ({ code, ...body }: Failure['body']) => ({ ...body, error_code: code });

/** The paths of a call: the paths of its procedure, with the values of their parameters. */
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
 * Whether the input was refused for a parameter of the path: it does not have the form of an id, so there is nothing under it, whatever
 * else is wrong.
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

/** A further rule of a base, checked before the input. @throws AppError to refuse the call */
type Check<A extends Actor | null> = (scope: Scope<A>) => void;

/**
 * The base of every procedure of a level: admits the caller, gives the call its scope, and turns what services throw
 * into tRPC's errors. `next()` never rejects: it resolves with `ok: false`.
 */
const guard = <A extends Actor | null>(level: Level, check?: Check<A>) =>
  t.middleware(({ ctx, next, path, type, signal, meta, getRawInput }) =>
    runForRequest(ctx, path, async () => {
      const end = ctx.reply.begin?.();
      try {
        const reach = () => reachOf(meta, getRawInput);
        const effect = meta?.changes ? 'mutation' : type;
        // Over a socket, tRPC's own signal fires only for subscriptions.
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
    }),
  );

const base = <A extends Actor | null>(level: Level, check?: Check<A>) => {
  const asked = guard<A>(level, check);
  // Read by `test/contract/procedures.test.ts`, which finds a level at the beginning of every procedure.
  for (const middleware of asked._middlewares) Object.assign(middleware, { level });
  return t.procedure.meta({ access: level, level }).use(asked);
};

/** Every caller. The scope has no actor. */
export const open = base<null>('open');
/** Every account, `pending` included. */
export const account = base<Actor>('account');
/** The same; the scope has no actor when the credentials are missing or have ended. */
export const accountIfAny = base<Actor | null>('account').meta({ access: 'account', withoutActor: true });
/** Accounts that an administrator has admitted. */
export const member = base<Actor>('member');
/** The same with a further rule. Not a middleware of its own, because each one copies the call. */
export const memberWith = (check: Check<Actor>) => base<Actor>('member', check);
/** Administrators only. */
export const administrator = base<Actor>('administrator');

interface ProcedureCall {
  (options: { getRawInput: () => Promise<unknown> }): Promise<unknown>;
  _def: { inputs: readonly $ZodType[] };
}

/** The same procedure; null in place of an optional member counts as not sent. */
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
