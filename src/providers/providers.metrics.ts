import { Counter } from 'prom-client';
import type { Metrics } from '../core/metrics.ts';
import type { Parts } from '../core/scope.ts';

const calls = new Counter({
  name: 'parley_provider_calls_total',
  help: 'Calls of model providers: begun to answer, or the code of the error',
  labelNames: ['connection', 'outcome'],
});

export const countCall = (connection: string, outcome: string): void => calls.inc({ connection, outcome });

export function measureProviders(metrics: Metrics, { providers }: Parts): void {
  const by = (read: (state: ReturnType<typeof providers.states>[number]) => number) => () =>
    Object.fromEntries(providers.states().map((state) => [state.name, read(state)]));
  metrics.gaugeBy(
    'connection',
    'parley_provider_up',
    'Whether the provider answered when it was last asked for its models',
    by(({ state }) => Number(state === 'ok')),
  );
  metrics.gaugeBy(
    'connection',
    'parley_provider_models',
    'Models that the connection offers',
    by(({ models }) => models),
  );
  metrics.gaugeBy(
    'connection',
    'parley_provider_calls_running',
    'Calls of the connection under way',
    by(({ running }) => running),
  );
  metrics.gaugeBy(
    'connection',
    'parley_provider_calls_waiting',
    'Calls that wait for a place at the connection',
    by(({ waiting }) => waiting),
  );
}
