import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readOtlp } from './otlp.ts';
import { until } from './poll.ts';
import { freePort } from './process.ts';

export interface ExportedSpan {
  name: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, unknown>;
  events: { name: string }[];
  links: { traceId: string; spanId: string }[];
  /** 2 for an error. */
  status: number;
  resource: Record<string, unknown>;
}

export interface ExportedMetric {
  name: string;
  kind: 'gauge' | 'sum' | 'histogram';
  points: { attributes: Record<string, unknown>; [member: string]: unknown }[];
}

/** A receiver of traces and metrics. */
export interface Collector {
  url: string;
  /** All spans so far. */
  spans: ExportedSpan[];
  /** The last values of each metric. */
  metrics: Map<string, ExportedMetric>;
  /** Of the last request. */
  headers: IncomingHttpHeaders;
  /** The text of all requests, as JSON. */
  text(): string;
  /** Requests so far, refused ones included. */
  requests: number;
  /** Answers every request with this status from now on. */
  answer(status: number): void;
  /** Waits for a span. */
  span(name: string, isIt?: (span: ExportedSpan) => boolean): Promise<ExportedSpan>;
  close(): Promise<void>;
}

/**
 * A receiver that speaks OTLP over HTTP. With `OTELCOL`, the path of an OpenTelemetry collector with the OTLP receiver and the OTLP
 * exporter, the server speaks to that, which passes everything on as JSON.
 */
export async function startCollector({ mayBeReal = true } = {}): Promise<Collector> {
  const texts: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    collector.requests += 1;
    collector.headers = request.headers;
    if (status === 200) {
      const isJson = request.headers['content-type'] === 'application/json';
      const told = isJson ? JSON.parse(body.toString()) : readOtlp(request.url ?? '', body);
      texts.push(JSON.stringify(told));
      collector.spans.push(...spansIn(told));
      for (const metric of metricsIn(told)) collector.metrics.set(metric.name, metric);
    }
    response.writeHead(status, { 'content-type': request.headers['content-type'] }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { OTELCOL } = process.env;
  const real = mayBeReal && OTELCOL ? await startReal(OTELCOL, sink) : undefined;
  const collector: Collector = {
    url: real?.url ?? sink,
    spans: [],
    metrics: new Map(),
    headers: {},
    text: () => texts.join('\n'),
    requests: 0,
    answer(next) {
      status = next;
    },
    async span(name, isIt = () => true) {
      const find = () => collector.spans.find((span) => span.name === name && isIt(span));
      await until(`the span ${name}`, () => find() !== undefined);
      return find() as ExportedSpan;
    },
    async close() {
      await real?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return collector;
}

async function startReal(path: string, sink: string): Promise<{ url: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-otelcol-'));
  const port = await freePort();
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { otlphttp: { endpoint: sink, encoding: 'json', compression: 'none' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: {
        traces: { receivers: ['otlp'], exporters: ['otlphttp'] },
        metrics: { receivers: ['otlp'], exporters: ['otlphttp'] },
      },
    },
  };
  const file = join(folder, 'config.yaml');
  await writeFile(file, JSON.stringify(config));
  const child: ChildProcess = spawn(path, [`--config=file:${file}`], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await until('the collector', () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return {
    url,
    async close() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of another program
type Json = any;

const attributesOf = (list: Json[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

const spansIn = ({ resourceSpans = [] }: Json): ExportedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ spans }: Json) =>
      spans.map((span: Json) => ({
        ...span,
        attributes: attributesOf(span.attributes),
        events: span.events ?? [],
        links: span.links ?? [],
        status: span.status?.code ?? 0,
        resource: attributesOf(resource.attributes),
      })),
    ),
  );

const metricsIn = ({ resourceMetrics = [] }: Json): ExportedMetric[] =>
  resourceMetrics.flatMap(({ scopeMetrics }: Json) =>
    scopeMetrics.flatMap(({ metrics }: Json) =>
      metrics.map(({ name, ...metric }: Json) => {
        const kind = (['gauge', 'sum', 'histogram'] as const).find((one) => metric[one]);
        const points = metric[kind as string].dataPoints ?? [];
        return {
          name,
          kind,
          points: points.map((point: Json) => ({ ...point, attributes: attributesOf(point.attributes) })),
        };
      }),
    ),
  );
