import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startCluster } from '../support/cluster.ts';
import { urlOf, withClient } from '../support/database.ts';
import { MAIN, type ServerProcess, spawnMain } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startBalancer } from './balancer.ts';
import { Load } from './load.ts';
import { checkOut, commitOfLastRelease } from './tree.ts';

/**
 * Upgrades two processes of the last release to this version, one after the other, while people post, read and listen. Fails when a
 * request fails that a client may not repeat, or when an acknowledged post or an event is lost.
 */
const { values } = parseArgs({
  options: {
    /** The commit of the older version; that of the last release by default. */
    from: { type: 'string' },
    /** How long each step lasts. */
    seconds: { type: 'string', default: '8' },
    people: { type: 'string', default: '8' },
  },
});
const from = values.from ?? commitOfLastRelease();
if (!from) {
  console.log('Skipped: the commit of the last release is not in this clone (git fetch --unshallow --tags).');
  process.exit(0);
}
const stepMs = Number(values.seconds) * 1000;
const closers: (() => unknown)[] = [];
const close = async () => {
  for (const step of closers.splice(0).reverse()) await step();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void close().then(() => process.exit(1)));

async function upgrade(commit: string): Promise<boolean> {
  const old = checkOut(commit);
  closers.push(() => rm(old, { recursive: true, force: true }));
  const cluster = await startCluster();
  closers.push(() => cluster.stop());
  const redis = await startRedis();
  closers.push(() => redis.stop());
  const balancer = await startBalancer();
  closers.push(() => balancer.close());
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-upgrade-'));
  closers.push(() => rm(DATA_DIR, { recursive: true, force: true }));
  const DATABASE_URL = urlOf(cluster.address);
  const env = {
    DATA_DIR,
    DATABASE_URL,
    REDIS_URL: redis.url,
    SECRET_KEY: 'a secret that all processes have got',
  };
  const listMigrations = () =>
    withClient(
      DATABASE_URL,
      async (client) => (await client.query('select name from mikro_orm_migrations')).rowCount,
    );

  const servers: (ServerProcess & { url: string })[] = [];
  const lead = () => balancer.lead(servers.map(({ url }) => url));
  async function start(place: number, main: string): Promise<void> {
    const server = spawnMain({ ...env, SHUTDOWN_GRACE: '2', LOG_LEVEL: 'warn' }, { main });
    closers.push(() => server.stop('SIGKILL'));
    servers[place] = { ...server, url: await server.ready() };
    lead();
  }
  const outputs: string[] = [];
  async function stop(place: number, signal: NodeJS.Signals): Promise<void> {
    const [server] = servers.splice(place, 1);
    await server?.stop(signal);
    outputs.push(server?.output.stderr ?? '');
    lead();
  }

  const former = join(old, 'src/main.ts');
  await start(0, former);
  await start(1, former);
  const migrations = await listMigrations();
  const load = new Load(balancer);
  closers.push(() => load.close());
  await load.begin(Number(values.people), 4);
  const steps: [string, () => Promise<unknown>][] = [
    ['both old', async () => {}],
    ['one stops', () => stop(0, 'SIGTERM')],
    ['the new one starts beside the old one, and brings the tables up to date', () => start(1, MAIN)],
    ['the old one is killed', () => stop(0, 'SIGKILL')],
    ['the old one starts again on the new tables', () => start(1, former)],
    ['the old one stops', () => stop(1, 'SIGTERM')],
    ['both new', () => start(1, MAIN)],
  ];
  for (const [what, step] of steps) {
    const before = structuredClone(load.figures);
    await step();
    await delay(stepMs);
    const { requests, repeated, failed } = load.figures;
    console.log(
      `${what}: ${requests - before.requests} requests, ${sum(repeated) - sum(before.repeated)} repeated, ${failed.length - before.failed.length} failed`,
    );
  }
  await load.end();
  const losses = await load.findLosses();
  const { requests, repeated, failed } = load.figures;
  console.log(`\nFrom ${commit.slice(0, 12)} with ${migrations} migrations to ${await listMigrations()}.`);
  console.log(
    `${requests} requests, ${load.posts} of them posts; repeated by clients: ${JSON.stringify(repeated)}`,
  );
  console.log(`failed requests beside those that a client may repeat: ${failed.length}`);
  for (const line of [...new Set(failed)].slice(0, 20)) console.log(`  ${line}`);
  console.log(`acknowledged posts and events that are lost or doubled: ${losses.length}`);
  for (const line of losses.slice(0, 20)) console.log(`  ${line}`);
  const warnings = [...outputs, ...servers.map(({ output }) => output.stderr)].join('').split('\n');
  for (const line of new Set(warnings.filter(Boolean).map(shorten))) console.log(`log: ${line}`);
  return failed.length === 0 && losses.length === 0;
}

const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

function shorten(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    return `${level} ${msg} ${err?.message ?? ''}`.slice(0, 300);
  } catch {
    return line.slice(0, 300);
  }
}

try {
  process.exitCode = (await upgrade(from)) ? 0 : 1;
} finally {
  await close();
}
