import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Registry, register } from 'prom-client';
import type { Parts } from '../../core/scope.ts';
import { answerCall, type Context } from '../../core/trpc/trpc.ts';
import type { PoolLoad } from '../../database/pool.ts';
import type { JobLoad } from '../../jobs/worker.ts';
import { buildHttpContext } from '../http/context.ts';

/** What keys that are bound to some paths must be allowed. */
const REACH = [['metrics']];

/** Each walks all handles of the process at every scrape, and sockets are counted by themselves. */
const COSTLY = /^nodejs_active_/;

export interface MetricsOptions {
  /** Lets in whoever shows it; without one, administrators alone. */
  token: string | undefined;
  /** How many sockets each door has open. */
  sockets: () => Record<string, number>;
  /** How the connections to the database are used. */
  database: () => PoolLoad;
}

/**
 * `GET /metrics`: what this process has counted, in the text format of Prometheus, for administrators and for who has the token. A
 * scrape reads numbers that are there already and asks the database nothing, so that it also answers when that does not.
 *
 * What is counted is declared where it happens, in the registry of the process; what is measured at the scrape is declared here.
 */
export function mountMetrics(app: FastifyInstance, parts: Parts, options: MetricsOptions): void {
  collectProcess();
  const measured = measure(parts, options);
  const isToken = options.token === undefined ? () => false : matcherOf(options.token);

  app.get('/metrics', async (request, reply) => {
    const context = buildHttpContext(parts, request, reply);
    if (!isToken(context)) await admit(context);
    const texts = await Promise.all([register.metrics(), measured.metrics()]);
    return reply.type(register.contentType).header('cache-control', 'no-store').send(texts.join('\n'));
  });
}

const admit = (context: Context) =>
  answerCall(
    context,
    { level: 'administrator', type: 'query', signal: undefined, reach: () => REACH },
    () => {},
  );

/** Compares in a time that tells nothing of the token. */
function matcherOf(token: string): (context: Context) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return ({ credentials }) =>
    credentials?.via === 'bearer' && timingSafeEqual(digest(credentials.token), expected);
}

/** Once, however many servers the process has. */
function collectProcess(): void {
  if (register.getSingleMetric('process_cpu_seconds_total')) return;
  collectDefaultMetrics({ eventLoopMonitoringPrecision: 20 });
  for (const { name } of register.getMetricsAsArray()) {
    if (COSTLY.test(name)) register.removeSingleMetric(name);
  }
}

/** Metrics that are read from the parts of a server when somebody asks. */
function measure({ hub, bus, python, jobs }: Parts, { sockets, database }: MetricsOptions): Registry {
  const registry = new Registry();
  const registers = [registry];

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  function gaugeBy(label: string, name: string, help: string, read: () => Record<string, number>): void {
    new Gauge({
      name,
      help,
      registers,
      labelNames: [label],
      collect() {
        for (const [value, number] of Object.entries(read())) this.set({ [label]: value }, number);
      },
    });
  }
  function counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  gaugeBy('door', 'parley_sockets', 'Open sockets', sockets);
  gauge(
    'parley_channels_followed',
    'Channels whose events at least one client is connected for',
    () => hub.size,
  );

  gaugeBy('state', 'parley_database_connections', 'Connections to the database', () => {
    const { open, idle } = database();
    return { idle, in_use: open - idle };
  });
  gauge('parley_database_connections_max', 'How many connections there may be', () => database().most);
  gauge('parley_database_waiting', 'What waits for a connection now', () => database().waiting);
  counter('parley_database_waits_total', 'How often all connections were in use', () => database().waits);
  counter(
    'parley_database_wait_seconds_total',
    'How long was waited for a connection in all',
    () => database().waitedMs / 1000,
  );
  counter(
    'parley_database_refused_total',
    'Waits for a connection that were given up and answered with 503',
    () => database().refused,
  );

  gauge('parley_bus_healthy', 'Whether notices of other processes are heard', () => Number(bus.healthy));

  gauge('parley_python_ready', 'Whether tools can run', () => Number(python.state().state === 'ready'));
  gauge('parley_tool_processes', 'Processes of tools', () => python.load().processes);
  gauge('parley_tool_processes_max', 'How many processes of tools there may be', () => python.load().most);
  gauge('parley_tool_calls_running', 'Calls of tools that have their turn', () => python.load().running);
  gauge(
    'parley_tool_calls_waiting',
    'Calls of tools that wait for others of the same person',
    () => python.load().waitingForTurn,
  );
  gauge(
    'parley_tool_processes_waiting',
    'Tools that wait for a place for their process',
    () => python.load().waitingForProcess,
  );

  const jobsBy = (what: keyof JobLoad) => () =>
    Object.fromEntries(Object.entries(jobs.load()).map(([kind, load]) => [kind, load[what]]));
  gaugeBy('kind', 'parley_jobs_running', 'Jobs that this process runs', jobsBy('running'));
  gaugeBy('kind', 'parley_jobs_waiting', 'Jobs of the whole database that are due', jobsBy('waiting'));
  gaugeBy('kind', 'parley_jobs_failed', 'Jobs that failed for good and are still kept', jobsBy('failed'));

  gauge(
    'parley_notifications_sending',
    'Notifications that are on their way to a webhook',
    () => jobs.load()['webhooks.deliver']?.running ?? 0,
  );
  gauge(
    'parley_notifications_waiting',
    'Notifications of the whole database that are due, waiting for the others to their server',
    () => jobs.load()['webhooks.deliver']?.waiting ?? 0,
  );
  return registry;
}
