import { setTimeout as delay } from 'node:timers/promises';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { v4 as uuidv4 } from 'uuid';
import { setTracer } from '../core/tracing.ts';
import type { Env } from '../env.ts';
import { metricsOf } from './telemetry.metrics.ts';
import { outageLog, watched } from './telemetry.outage.ts';
import { samplerOf } from './telemetry.sampler.ts';
import { OtelTracer } from './telemetry.tracer.ts';
import type { Targets, Telemetry } from './telemetry.types.ts';

/** How long a stop waits for the collector. */
const CLOSE_MS = 2_000;

interface ExportOptions {
  env: Env;
  targets: Targets;
  log: Logger;
  version: string;
}

export function openExport({ env, targets, log, version }: ExportOptions): Telemetry {
  // Failures of an export reach `watched`.
  setGlobalErrorHandler(() => {});
  const resource = describeProcess(version);
  const note = outageLog(log);
  const closers: (() => Promise<void>)[] = [];
  if (targets.traces) {
    const provider = traceInto(targets.traces, env, resource, note);
    closers.push(() => provider.shutdown());
  }
  return {
    exportMetrics(registries) {
      if (!targets.metrics) return;
      const interval = env.OTEL_METRIC_EXPORT_INTERVAL;
      const reader = new PeriodicExportingMetricReader({
        exporter: watched(new OTLPMetricExporter({ url: targets.metrics }), note),
        exportIntervalMillis: interval,
        exportTimeoutMillis: Math.min(interval, env.OTEL_BSP_EXPORT_TIMEOUT),
      });
      reader.setMetricProducer(metricsOf(registries, resource));
      closers.push(() => reader.shutdown());
    },
    async close() {
      setTracer(undefined);
      const sent = Promise.allSettled(closers.map((close) => close()));
      await Promise.race([sent, delay(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

function traceInto(
  url: string,
  env: Env,
  resource: Resource,
  note: ReturnType<typeof outageLog>,
): TracerProvider {
  const processor = new BatchSpanProcessor({
    exporter: watched(new OTLPTraceExporter({ url }), note),
    maxQueueSize: env.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMillis: env.OTEL_BSP_EXPORT_TIMEOUT,
  });
  const { sampler, root } = samplerOf(env);
  const provider = new TracerProvider({ resource, sampler, spanProcessors: [processor] });
  setTracer(new OtelTracer(provider.getTracer('parley'), root));
  return provider;
}

/** The variables of the environment win. Detectors of the host and the process would tell its users and its command line. */
function describeProcess(version: string): Resource {
  const own = {
    'service.name': 'parley',
    'service.version': version,
    'service.instance.id': uuidv4(),
  };
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
}
