import type { Metrics } from '../../core/metrics.ts';
import type { Parts } from '../../core/scope.ts';
import { deliverJob } from './deliveries.job.ts';

export function measureDeliveries(metrics: Metrics, { jobs }: Parts): void {
  metrics.gauge(
    'parley_notifications_sending',
    'Notifications that are on their way to a webhook',
    () => jobs.load()[deliverJob.name]?.running ?? 0,
  );
  metrics.gauge(
    'parley_notifications_waiting',
    'Notifications of the whole database that are due, waiting for the others to their server',
    () => jobs.load()[deliverJob.name]?.waiting ?? 0,
  );
}
