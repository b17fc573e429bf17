import { z } from 'zod';

const flag = z.stringbool({ truthy: ['true'], falsy: ['false'] });

const endpoint = z
  .string()
  .regex(/^https?:\/\//, 'must begin with https:// or http://')
  .refine((url) => URL.canParse(url), 'must be an address such as http://collector:4318')
  .optional();

const count = (initial: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a whole number above 0')
    .transform(Number)
    .default(initial);

const protocol = z
  .literal('http/protobuf', 'must be http/protobuf, the only protocol that Parley sends')
  .optional();
const exporter = z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp');

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

/**
 * The variables of OpenTelemetry that decide here. Its packages read the others themselves: `OTEL_SERVICE_NAME`,
 * `OTEL_RESOURCE_ATTRIBUTES`, and headers, time limit, compression and certificates of `OTEL_EXPORTER_OTLP_…`.
 */
export const telemetryVariables = {
  /** Exports traces and metrics to the OpenTelemetry collector at this address. */
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  /** The whole address for one of them, and for it alone without the address above. */
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
  OTEL_SDK_DISABLED: flag.default(false),
  OTEL_TRACES_EXPORTER: exporter,
  OTEL_METRICS_EXPORTER: exporter,
  OTEL_TRACES_SAMPLER: z
    .enum([...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)])
    .default('parentbased_always_on'),
  /** The part of the traces that a sampler by ratio exports. */
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),
  /** Milliseconds, as are the following. */
  OTEL_METRIC_EXPORT_INTERVAL: count(60_000),
  OTEL_BSP_SCHEDULE_DELAY: count(5_000),
  OTEL_BSP_EXPORT_TIMEOUT: count(30_000),
  /** Spans that wait to be sent; beyond that, spans are dropped. */
  OTEL_BSP_MAX_QUEUE_SIZE: count(2_048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(512),
};
