import type { Metrics } from '../core/metrics.ts';
import type { Parts } from '../core/scope.ts';
import type { JobLoad } from './worker.ts';

export function measureJobs(metrics: Metrics, { jobs }: Parts): void {
  const byKind = (what: keyof JobLoad) => () =>
    Object.fromEntries(Object.entries(jobs.load()).map(([kind, load]) => [kind, load[what]]));
  metrics.gaugeBy('kind', 'parley_jobs_running', 'Jobs that this process runs', byKind('running'));
  metrics.gaugeBy(
    'kind',
    'parley_jobs_waiting',
    'Jobs of the whole database that are due',
    byKind('waiting'),
  );
  metrics.gaugeBy(
    'kind',
    'parley_jobs_failed',
    'Jobs that failed for good and are still kept',
    byKind('failed'),
  );
}
