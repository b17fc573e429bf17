import type { Registry } from 'prom-client';

/** The export of traces and metrics by OpenTelemetry. */
export interface Telemetry {
  /** Exports what these registries have, in the interval of the environment. */
  exportMetrics(registries: readonly Registry[]): void;
  /** Sends what waits, for a moment. */
  close(): Promise<void>;
}

/** The addresses that traces and metrics go to; undefined for what is not exported. */
export interface Targets {
  traces: string | undefined;
  metrics: string | undefined;
}
