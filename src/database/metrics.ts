import type { DeclareMetrics } from '../core/metrics.ts';
import type { PoolLoad } from './pool.ts';

/** @param load how the connections are used */
export const measurePool =
  (load: () => PoolLoad): DeclareMetrics =>
  (metrics) => {
    metrics.gaugeBy('state', 'parley_database_connections', 'Connections to the database', () => {
      const { open, idle } = load();
      return { idle, in_use: open - idle };
    });
    metrics.gauge('parley_database_connections_max', 'How many connections there may be', () => load().most);
    metrics.gauge('parley_database_waiting', 'What waits for a connection now', () => load().waiting);
    metrics.counter(
      'parley_database_waits_total',
      'How often all connections were in use',
      () => load().waits,
    );
    metrics.counter(
      'parley_database_wait_seconds_total',
      'How long was waited for a connection in all',
      () => load().waitedMs / 1000,
    );
    metrics.counter(
      'parley_database_refused_total',
      'Waits for a connection that were given up and answered with 503',
      () => load().refused,
    );
  };
