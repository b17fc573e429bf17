import type { Logger } from 'pino';
import type { Env } from '../env.ts';
import type { Targets, Telemetry } from './telemetry.types.ts';

/** Begins to trace. Null without an address in the environment: then no package of OpenTelemetry is loaded. */
export async function startTelemetry(env: Env, log: Logger, version: string): Promise<Telemetry | null> {
  const targets = targetsOf(env);
  if (!targets.traces && !targets.metrics) return null;
  const { openExport } = await import('./telemetry.export.ts');
  return openExport({ env, targets, log, version });
}

function targetsOf(env: Env): Targets {
  if (env.OTEL_SDK_DISABLED) return { traces: undefined, metrics: undefined };
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
  const below = (path: string) => base && `${base.replace(/\/$/, '')}/v1/${path}`;
  const isOn = (exporter: string) => exporter !== 'none';
  return {
    traces: isOn(env.OTEL_TRACES_EXPORTER)
      ? (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? below('traces'))
      : undefined,
    metrics: isOn(env.OTEL_METRICS_EXPORTER)
      ? (env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? below('metrics'))
      : undefined,
  };
}
