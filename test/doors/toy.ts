import type { AddressInfo } from 'node:net';
import { tracked } from '@trpc/server';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { z } from 'zod';
import { AppError } from '../../src/core/errors.ts';
import { emptiable } from '../../src/core/schema/nulls.ts';
import type { Actor, Parts } from '../../src/core/scope.ts';
import { account, administrator, member, open, router } from '../../src/core/trpc/trpc.ts';
import { freeForm, nanoseconds, page } from '../../src/core/wire.ts';
import { createEntrance } from '../../src/doors/http/entrance.ts';
import { createHttp } from '../../src/doors/http.ts';
import { mountTrpcSockets, type TrpcSockets } from '../../src/doors/trpc/trpc.sockets.ts';
import type { Env } from '../../src/env.ts';

/** A router with one procedure for each feature of a door; it needs no database. */

const Thing = z.object({ id: z.string(), name: z.string() }).meta({ id: 'Thing' });
const get = (path: `/${string}`) => ({
  openapi: { method: 'GET' as const, path, summary: path, tags: ['toy'] },
});
const post = (path: `/${string}`) => ({
  openapi: { method: 'POST' as const, path, summary: path, tags: ['toy'] },
});

const seen = z.record(z.string(), z.unknown());

export const toyRouter = router({
  things: router({
    export: member
      .meta({ ...get('/things/export'), access: 'member' })
      .output(z.string())
      .query(() => 'all'),
    get: member
      .meta({ ...get('/things/{id}'), access: 'thing.read' })
      .input(z.object({ id: z.string() }))
      .output(Thing)
      .query(({ input }) => ({ id: input.id, name: 'one', secret: 'stays inside' })),
    remove: member
      .meta({
        openapi: { method: 'DELETE', path: '/things/{id}', summary: 'Remove', tags: ['toy'] },
        access: 'thing.write',
      })
      .input(z.object({ id: z.string(), force: z.boolean().default(false) }))
      .output(seen)
      .mutation(({ input }) => input),
    create: administrator
      .meta({ openapi: { ...post('/things/').openapi, status: 201 }, access: 'administrator' })
      .input(z.object({ name: z.string().min(2), meta: z.object({ tag: z.string().optional() }).optional() }))
      .output(Thing)
      .mutation(({ input }) => ({ id: 'new', name: input.name })),
    update: member
      .meta({ ...post('/things/{id}/update'), access: 'thing.write' })
      .input(
        z.object({
          id: z.string(),
          name: z.string(),
          grants: z.array(z.object({ who: z.string() })).optional(),
          data: freeForm().optional(),
          meta: z.object({ tag: z.string().optional() }).optional(),
          list: z.array(z.object({ tag: z.string().optional(), must: z.int() })).optional(),
          note: emptiable(z.string()),
        }),
      )
      .output(seen)
      .mutation(({ input }) => input),
    valves: member
      .meta({
        openapi: { ...post('/things/{id}/valves').openapi, bodyMember: 'valves' },
        access: 'thing.write',
      })
      .input(z.object({ id: z.string(), valves: freeForm(), dry: z.boolean().optional() }))
      .output(seen)
      .mutation(({ input }) => input),
    configure: member
      .meta({
        openapi: { ...post('/things/configure').openapi, bodyMember: 'config', acceptWrapped: true },
        access: 'member',
      })
      .input(z.object({ config: freeForm() }))
      .output(seen)
      .mutation(({ input }) => input),
    list: open
      .meta({ ...get('/things'), access: 'open' })
      .input(
        z.object({
          ...page,
          on: z.boolean().optional(),
          since: nanoseconds().nullish(),
          ratio: z.number().optional(),
          ids: z.array(z.int()).optional(),
          order: z.enum(['asc', 'desc']).optional(),
          text: z.string().optional(),
        }),
      )
      .output(seen)
      .query(({ input }) => input),
  }),
  whoami: account
    .meta({ ...get('/whoami'), access: 'account' })
    .output(z.object({ id: z.string() }))
    .query(({ ctx }) => ({ id: ctx.scope.actor.id })),
  touch: member
    .meta({ ...post('/touch'), access: 'member' })
    .output(z.null())
    .mutation(() => null),
  optional: open
    .meta({ ...post('/optional'), access: 'open' })
    .input(z.object({ note: z.string().optional() }))
    .output(seen)
    .mutation(({ input }) => input),
  signIn: open
    .meta({ ...post('/signin'), access: 'open' })
    .output(z.boolean())
    .mutation(({ ctx }) => {
      ctx.scope.reply.setSession('member-token', 4_102_444_800);
      return true;
    }),
  signOut: open
    .meta({ ...post('/signout'), access: 'open' })
    .output(z.boolean())
    .mutation(({ ctx }) => {
      ctx.scope.reply.setSession(null, null);
      return true;
    }),
  surroundings: open
    .meta({ ...get('/surroundings'), access: 'open' })
    .output(seen)
    .query(({ ctx }) => ({ ...ctx.scope.request })),
  fail: open
    .meta({ ...get('/fail'), access: 'open' })
    .input(z.object({ how: z.enum(['limited', 'bug', 'output']) }))
    .output(z.string())
    .query(({ input }): string => {
      if (input.how === 'limited') throw new AppError('rate_limited', { retryAfterSeconds: 42 });
      if (input.how === 'output') return 7 as unknown as string;
      throw new Error('the password is hunter2');
    }),
  stuck: open
    .meta({ ...get('/stuck'), access: 'open' })
    .output(z.boolean())
    .query(async ({ ctx: { scope } }) => {
      stuck.entered += 1;
      if (!scope.signal?.aborted)
        await new Promise<void>((resolve) => scope.signal?.addEventListener('abort', () => resolve()));
      stuck.aborted += 1;
      return true;
    }),
  flood: member.meta({ access: 'member' }).subscription(async function* () {
    flood.begun += 1;
    flood.running = true;
    try {
      for (let count = 0; ; count += 1) {
        yield tracked(String(count), 'x'.repeat(1024 * 1024));
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      flood.running = false;
    }
  }),
  ticks: member
    .meta({ access: 'member' })
    .input(z.object({ lastEventId: z.string().optional() }))
    .subscription(async function* ({ input }) {
      const from = Number(input.lastEventId ?? 0);
      for (let tick = from + 1; tick <= from + 3; tick += 1) yield tracked(String(tick), { tick });
    }),
});

export type ToyRouter = typeof toyRouter;

/** The number of calls of `stuck` that began, and of those whose caller disconnected. */
export const stuck = { entered: 0, aborted: 0 };

/** The number of items that `flood` has produced, and whether it still runs. */
export const flood = { begun: 0, running: false };

const actor = (id: string, role: Actor['role']): Actor => ({
  id,
  role,
  name: id,
  email: `${id}@example.com`,
  sessionId: null,
  keyId: null,
  granted: [],
  expiresAt: null,
});

const ACTORS: Record<string, Actor> = {
  'member-token': actor('member', 'user'),
  'admin-token': actor('admin', 'admin'),
  'pending-token': actor('pending', 'pending'),
};

export interface Toy {
  app: FastifyInstance;
  url: string;
  port: number;
  /** The parsed lines of the log. */
  logged: Record<string, unknown>[];
  close(): Promise<void>;
}

/** Starts the real doors with the toy router on a free port. */
export async function startToy(
  env: Partial<Pick<Env, 'ENV' | 'CORS_ALLOW_ORIGIN'>> = {},
  socketOptions: { anonymousMs?: number } = {},
): Promise<Toy> {
  const logged: Record<string, unknown>[] = [];
  const parts = {
    log: pino({}, { write: (line: string) => logged.push(JSON.parse(line)) }),
    authenticate: (...[{ token }, , , identified]: Parameters<Parts['authenticate']>) => {
      const known = ACTORS[token];
      if (!known) throw new AppError('unauthenticated');
      identified?.(known);
      return known;
    },
    room: { require() {} },
    entrance: createEntrance({
      TRUSTED_PROXIES: [],
      PROXY_SECRET: undefined,
      AUTH_COOKIE_SAME_SITE: 'lax',
      AUTH_COOKIE_SECURE: 'auto',
    }),
  } as unknown as Parts;
  const app = await createHttp({
    parts,
    router: toyRouter,
    env: { ENV: 'prod', CORS_ALLOW_ORIGIN: [], ...env },
  });
  const sockets: TrpcSockets = mountTrpcSockets({
    server: app.server,
    parts,
    router: toyRouter,
    ...socketOptions,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    app,
    url: `http://127.0.0.1:${port}`,
    port,
    logged,
    async close() {
      await sockets.close();
      await app.close();
    },
  };
}
