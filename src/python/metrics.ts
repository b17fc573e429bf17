import type { Metrics } from '../core/metrics.ts';
import type { Parts } from '../core/scope.ts';

export function measurePython(metrics: Metrics, { python }: Parts): void {
  metrics.gauge('parley_python_ready', 'Whether tools can run', () =>
    Number(python.state().state === 'ready'),
  );
  metrics.gauge('parley_tool_processes', 'Processes of tools', () => python.load().processes);
  metrics.gauge(
    'parley_tool_processes_max',
    'How many processes of tools there may be',
    () => python.load().most,
  );
  metrics.gauge(
    'parley_tool_calls_running',
    'Calls of tools that have their turn',
    () => python.load().running,
  );
  metrics.gauge(
    'parley_tool_calls_waiting',
    'Calls of tools that wait for others of the same person',
    () => python.load().waitingForTurn,
  );
  metrics.gauge(
    'parley_tool_processes_waiting',
    'Tools that wait for a place for their process',
    () => python.load().waitingForProcess,
  );
}
