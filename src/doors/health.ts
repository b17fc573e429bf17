import type { FastifyInstance } from 'fastify';
import { isDiskFull } from '../core/outage.ts';
import type { PartState } from '../core/readiness.ts';
import type { Parts } from '../core/scope.ts';
import { PING } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import type { RedisClient } from '../events/redis.ts';
import type { Jobs } from '../jobs/worker.ts';
import type { PythonState } from '../python/supervisor.ts';

const PATIENCE_MS = 2_000;

export interface Health {
  /** Makes `/ready` answer 503 from now on. */
  drain(): void;
}

export interface HealthOptions {
  redis: RedisClient | null;
  /** The state of the replica of the database; undefined without one. */
  replica: (() => PartState) | undefined;
  nouns: readonly ((parts: Parts) => Record<string, PartState>)[];
}

/**
 * `GET /health`: the process is alive. `GET /ready`: the state of each part, with 503 while a part is down: at a start before the
 * Python environment is made, while the process drains, or without the database.
 */
export function mountHealth(
  app: FastifyInstance,
  parts: Parts,
  { redis, replica, nouns }: HealthOptions,
): Health {
  let isDraining = false;
  let hasPythonStarted = false;
  void parts.python.settled.then(() => {
    hasPythonStarted = true;
  });
  app.get('/health', async () => ({ status: true }));
  app.get('/ready', async (_request, reply) => {
    const states: Record<string, PartState> = {
      server: isDraining ? { state: 'down', detail: 'is stopping' } : { state: 'ok', detail: 'serves' },
      database: await askDatabase(parts),
      ...(replica && { replica: replica() }),
      ...(redis && { redis: await askRedis(redis, parts.bus) }),
      python: describePython(parts.python.state(), hasPythonStarted),
      ...JOBS[parts.jobs.state()],
      ...Object.assign({}, ...nouns.map((describe) => describe(parts))),
    };
    const ready = Object.values(states).every(({ state }) => state !== 'down');
    return reply.code(ready ? 200 : 503).send({ ready, parts: states });
  });
  return {
    drain() {
      isDraining = true;
    },
  };
}

const ANSWERS: PartState = { state: 'ok', detail: 'answers' };

async function askDatabase({ sql, room }: Parts): Promise<PartState> {
  if (!(await answers(() => sql.rows(PING)))) return { state: 'down', detail: 'does not answer' };
  return isDiskFull() || room.isShort
    ? { state: 'degraded', detail: 'has no room left on its disk' }
    : ANSWERS;
}

/** Without Redis everything works, but each process counts limits for itself, and some notices come later. */
async function askRedis(redis: RedisClient, bus: Bus): Promise<PartState> {
  if (!(await answers(() => redis.ping()))) return { state: 'degraded', detail: 'does not answer' };
  return bus.healthy ? ANSWERS : { state: 'degraded', detail: 'notices of other processes are not heard' };
}

function describePython({ state }: PythonState, hasStarted: boolean): PartState {
  if (state === 'ready') return { state: 'ok', detail: state };
  return { state: state === 'starting' && !hasStarted ? 'down' : 'degraded', detail: state };
}

/** Shown only in trouble: calls are served without jobs. */
const JOBS: Record<ReturnType<Jobs['state']>, { jobs?: PartState }> = {
  ok: {},
  failing: { jobs: { state: 'degraded', detail: 'cannot be looked for' } },
  ended: { jobs: { state: 'down', detail: 'are not run any more' } },
};

async function answers(ask: () => Promise<unknown>): Promise<boolean> {
  const tooLate = AbortSignal.timeout(PATIENCE_MS);
  const givenUp = new Promise((_, reject) => {
    tooLate.addEventListener('abort', () => reject(tooLate.reason));
  });
  return Promise.race([ask(), givenUp]).then(
    () => true,
    () => false,
  );
}
