import type { Metrics } from '../core/metrics.ts';
import type { Parts } from '../core/scope.ts';

export function measureHub(metrics: Metrics, { hub }: Parts): void {
  metrics.gauge(
    'parley_channels_followed',
    'Channels whose events at least one client is connected for',
    () => hub.size,
  );
}

export function measureBus(metrics: Metrics, { bus }: Parts): void {
  metrics.gauge('parley_bus_healthy', 'Whether notices of other processes are heard', () =>
    Number(bus.healthy),
  );
}
