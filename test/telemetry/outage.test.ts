import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readEnv } from '../../src/env.ts';
import { createLog } from '../../src/log.ts';
import { startTelemetry } from '../../src/telemetry/telemetry.ts';
import { startCollector } from '../support/collector.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { spawnMain } from '../support/process.ts';

const database = await createDatabase();
const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
const collector = await startCollector({ mayBeReal: false });
const QUICKLY = { OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_METRIC_EXPORT_INTERVAL: '50' };
afterAll(async () => {
  await collector.close();
  await database.drop();
  await rm(DATA_DIR, { recursive: true, force: true });
});

it.each([
  ['no variable', {}],
  ['OTEL_SDK_DISABLED', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' }],
  [
    'no exporter',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'none',
    },
  ],
])('with %s nothing is exported', async (_, env) => {
  expect(await startTelemetry(readEnv(env), createLog('silent'), '1')).toBeNull();
});

it('a process follows the standard variables, and a collector that fails costs it one line', async () => {
  const server = spawnMain({
    DATA_DIR,
    DATABASE_URL: database.url,
    ...QUICKLY,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=the%20key',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    OTEL_SERVICE_NAME: 'chat',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  const url = await server.ready();
  const ask = () => fetch(`${url}/api/config`).then(({ status }) => status);
  const linesOf = (text: string) => server.output.stderr.split('\n').filter((line) => line.includes(text));
  expect(await ask()).toBe(200);
  const span = await collector.span('configs.client');
  expect(span.resource).toMatchObject({
    'service.name': 'chat',
    'deployment.environment.name': 'test',
    'service.instance.id': expect.any(String),
  });
  expect(Object.keys(span.resource).filter((name) => /^(host|process|os)\./.test(name))).toEqual([]);
  expect(collector.headers['x-key']).toBe('the key');

  collector.answer(400);
  const before = collector.requests;
  await until('refused exports', async () => (await ask()) === 200 && collector.requests > before + 5);
  collector.answer(200);
  await until('the end of the outage', () => linesOf('takes traces and metrics again').length > 0);
  expect(linesOf('The OpenTelemetry collector takes nothing')).toHaveLength(1);
  expect(linesOf('"level":50')).toEqual([]);

  collector.answer(400);
  expect(await server.stop()).toMatchObject({ code: 0 });
});

it('a sampler that exports no trace leaves the metrics', async () => {
  collector.answer(200);
  collector.metrics.clear();
  const server = spawnMain({
    DATA_DIR,
    DATABASE_URL: database.url,
    ...QUICKLY,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  const url = await server.ready();
  collector.spans.length = 0;
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await fetch(`${url}/api/config`, { headers: { traceparent } });
  await until('metrics', () => collector.metrics.size > 0);
  await server.stop();
  expect(collector.spans).toEqual([]);
});
