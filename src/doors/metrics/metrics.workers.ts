import type { Registry } from 'prom-client';
import { askMetrics, hearPrimary, tellPrimary } from '../../core/processes/workers.ts';

/**
 * Lets one scrape read all workers: each adds its number as the label `worker` and counts for itself, and the primary joins the
 * answers.
 */
export function joinWorkers(number: number, registries: Registry[]): () => Promise<string> {
  for (const registry of registries) {
    registry.setDefaultLabels({ worker: String(number) });
    // The library leaves the start of a process out where it joins numbers.
    Object.assign(registry.getSingleMetric('process_start_time_seconds') ?? {}, { aggregator: 'first' });
  }
  hearPrimary(async (message) => {
    if (message.parley !== 'measure') return;
    const measured = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
    tellPrimary({ parley: 'measured', id: message.id, metrics: measured.flat() });
  });
  return askMetrics;
}
