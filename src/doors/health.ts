import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { Parts } from '../core/scope.ts';
import { statement } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';

const PING = statement('health.ping', 'select 1');
const PATIENCE_MS = 2_000;

interface PartState {
  ok: boolean;
  detail: string;
}

/**
 * `GET /health`: the process is alive. `GET /ready`: it can do its work, each part named: 200 when the database and, if
 * configured, Redis answer and Python is ready or known to be unavailable; else 503.
 */
export function mountHealth(app: FastifyInstance, parts: Parts, redis: Redis | null): void {
  app.get('/health', async () => ({ status: true }));
  app.get('/ready', async (_request, reply) => {
    const python = parts.python.state();
    const states: Record<string, PartState> = {
      database: await probe(() => parts.sql.rows(PING, [])),
      ...(redis && { redis: await probe(() => askRedis(redis, parts.bus)) }),
      // Why Python is unavailable is in the log: the reason names folders, and anybody may ask here.
      python: { ok: python.state !== 'starting', detail: python.state },
    };
    const ready = Object.values(states).every(({ ok }) => ok);
    return reply.code(ready ? 200 : 503).send({ ready, parts: states });
  });
}

async function askRedis(redis: Redis, bus: Bus): Promise<void> {
  await redis.ping();
  if (!bus.healthy) throw new Error('Notices of other processes are not heard.');
}

async function probe(ask: () => Promise<unknown>): Promise<PartState> {
  const tooLate = AbortSignal.timeout(PATIENCE_MS);
  try {
    await Promise.race([
      ask(),
      new Promise((_, reject) => tooLate.addEventListener('abort', () => reject(tooLate.reason))),
    ]);
    return { ok: true, detail: 'answers' };
  } catch {
    // Why is in the log; this answer is for anybody.
    return { ok: false, detail: 'does not answer' };
  }
}
