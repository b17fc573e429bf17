import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime, millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

type Collected = MetricObjectWithValues<MetricValue<string>>;
type Labels = MetricValue<string>['labels'];

/** Since the start of the process. */
interface Period {
  startTime: HrTime;
  endTime: HrTime;
}

/** The metrics of `GET /metrics` under the same names and labels, read when they are exported. */
export function metricsOf(registries: readonly Registry[], resource: Resource): MetricProducer {
  const startTime = millisToHrTime(performance.timeOrigin);
  const scope = { name: 'parley' };
  return {
    async collect() {
      const collected = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
      const period = { startTime, endTime: hrTime() };
      const metrics = collected.flat().flatMap((metric) => convert(metric as Collected, period));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  };
}

/** No metric of ours is a summary. */
function convert(metric: Collected, period: Period): MetricData[] {
  const descriptor = {
    name: metric.name,
    description: metric.help,
    unit: '',
    valueType: ValueType.DOUBLE,
  };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  // `register.getMetricsAsJSON` gives the names of the kinds, and not the numbers that its types say.
  switch (String(metric.type)) {
    case 'counter': {
      const dataPoints = pointsOf(metric, period);
      return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
    }
    case 'gauge':
      return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: pointsOf(metric, period) }];
    case 'histogram': {
      const dataPoints = histogramsOf(metric, period);
      return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
    }
    default:
      return [];
  }
}

const pointsOf = ({ values }: Collected, period: Period): DataPoint<number>[] =>
  values.map(({ value, labels }) => ({ ...period, value, attributes: { ...labels } as Attributes }));

/** Prometheus counts each bucket with all smaller ones, OpenTelemetry by itself. */
function histogramsOf({ name, values }: Collected, period: Period): DataPoint<Histogram>[] {
  const points = new Map<string, { attributes: Attributes; buckets: [number, number][]; sum: number }>();
  const pointOf = ({ le: _le, ...labels }: Labels & { le?: unknown }) => {
    const key = JSON.stringify(labels);
    const point = points.get(key) ?? { attributes: { ...labels } as Attributes, buckets: [], sum: 0 };
    points.set(key, point);
    return point;
  };
  for (const { value, labels, metricName } of values as (MetricValue<string> & { metricName?: string })[]) {
    if (metricName === `${name}_sum`) pointOf(labels).sum = value;
    else if (metricName === `${name}_bucket`) {
      const { le } = labels as { le?: string | number };
      pointOf(labels).buckets.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value]);
    }
  }
  return [...points.values()].map(({ attributes, buckets, sum }) => {
    const sorted = buckets.toSorted(([a], [b]) => a - b);
    const value: Histogram = {
      buckets: {
        boundaries: sorted.slice(0, -1).map(([bound]) => bound),
        counts: sorted.map(([, count], index) => count - (sorted[index - 1]?.[1] ?? 0)),
      },
      count: sorted.at(-1)?.[1] ?? 0,
      sum,
    };
    return { ...period, attributes, value };
  });
}
