import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { Metrics } from '../core/metrics.ts';
import { type FromWorker, isOurs } from '../core/processes/workers.ts';
import type { Slot } from './slot.ts';

/** How long a worker may take to answer; a scrape leaves out one that hangs. */
const PATIENCE_MS = 2_000;

/** Answers a worker that is scraped with the metrics of all workers that serve, and those of the primary. */
export function answerMetrics(slots: () => readonly Slot[], log: Logger): void {
  const own = new Metrics();
  const serving = () => slots().filter(({ isReady }) => isReady);
  own.gauge('parley_workers', 'Workers that serve', () => serving().length);
  own.counter('parley_worker_restarts_total', 'Workers that ended and were started again', () =>
    slots().reduce((sum, { restarts }) => sum + restarts, 0),
  );
  const readAll = async (): Promise<string> => {
    const all = AggregatorRegistry.aggregate(await measure(serving()));
    return (await Promise.all([all.metrics(), own.registry.metrics()])).join('\n');
  };
  cluster.on('message', (worker, message: unknown) => {
    if (!isOurs(message)) return;
    const asked = message as FromWorker;
    if (asked.parley !== 'metrics') return;
    // A scrape that fails must not end the primary.
    readAll().then(
      (text) => worker.send({ parley: 'metrics', id: asked.id, text }),
      (error: unknown) => log.error({ err: error }, 'The metrics of the workers could not be read.'),
    );
  });
}

async function measure(slots: readonly Slot[]): Promise<object[]> {
  const id = randomUUID();
  const answers: object[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const hear = (_worker: unknown, message: unknown) => {
    const told = message as FromWorker;
    if (!isOurs(message) || told.parley !== 'measured' || told.id !== id) return;
    answers.push(told.metrics);
    if (answers.length === slots.length) resolve();
  };
  cluster.on('message', hear);
  for (const slot of slots) slot.tell({ parley: 'measure', id });
  await Promise.race([promise, delay(PATIENCE_MS, undefined, { ref: false })]);
  cluster.off('message', hear);
  return answers;
}
