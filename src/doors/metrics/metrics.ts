import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, type Registry, register } from 'prom-client';
import { type DeclareMetrics, Metrics } from '../../core/metrics.ts';
import type { Worker } from '../../core/processes/workers.ts';
import type { Parts } from '../../core/scope.ts';
import { answerCall, type Context } from '../../core/trpc/admission.ts';
import { buildHttpContext } from '../http/context.ts';
import { joinWorkers } from './metrics.workers.ts';

/** The path that an API key must be allowed, when it is bound to some. */
const REACH = [['metrics']];

/** These default metrics walk all handles of the process at every scrape. Sockets are counted separately. */
const COSTLY = /^nodejs_active_/;

export interface MetricsOptions {
  /** Admits a caller that sends it as a bearer token; without one, only administrators are admitted. */
  token: string | undefined;
  /** Set when other workers share the port: the answer has the metrics of all. */
  worker: Worker | null;
  /** How many sockets each door has open. */
  sockets: () => Record<string, number>;
  /** Each declares the metrics of a noun or of a shared part. */
  declarations: readonly DeclareMetrics[];
}

/**
 * `GET /metrics`: the counts and measures of this process, or of all workers of its primary, in the text format of Prometheus, for
 * administrators and for callers with the token. A scrape reads numbers from memory and sends no statement, so it also answers while the database is away.
 *
 * Events are counted in the registry of the process, where they happen. State is read at the scrape (`core/metrics.ts`).
 *
 * @returns the registries
 */
export function mountMetrics(app: FastifyInstance, parts: Parts, options: MetricsOptions): Registry[] {
  collectProcess();
  const metrics = new Metrics();
  metrics.gaugeBy('door', 'parley_sockets', 'Open sockets', options.sockets);
  for (const declare of options.declarations) declare(metrics, parts);
  const registries = [register, metrics.registry];
  const readAll = options.worker && joinWorkers(options.worker.number, registries);
  const isToken = options.token === undefined ? () => false : matcherOf(options.token);

  app.get('/metrics', async (request, reply) => {
    const context = buildHttpContext(parts, request, reply);
    if (!isToken(context)) await admit(context);
    const joined = await readAll?.();
    const text = joined ?? (await Promise.all(registries.map((one) => one.metrics()))).join('\n');
    return reply.type(register.contentType).header('cache-control', 'no-store').send(text);
  });
  return registries;
}

const admit = (context: Context) =>
  answerCall(
    context,
    { level: 'administrator', type: 'query', signal: undefined, reach: () => REACH },
    () => {},
  );

/** Compares in constant time. */
function matcherOf(token: string): (context: Context) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return ({ credentials }) =>
    credentials?.via === 'bearer' && timingSafeEqual(digest(credentials.token), expected);
}

/** Registers the metrics of the process once, even with several servers in it. */
function collectProcess(): void {
  if (register.getSingleMetric('process_cpu_seconds_total')) return;
  collectDefaultMetrics({ eventLoopMonitoringPrecision: 20 });
  for (const { name } of register.getMetricsAsArray()) {
    if (COSTLY.test(name)) register.removeSingleMetric(name);
  }
}
