import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { insist } from '../setup/calls.ts';
import { closeOnSignal } from '../setup/closers.ts';
import { type Installation, startInstallation } from '../setup/installation.ts';
import { pick, type Random, seeded } from '../setup/random.ts';
import { buildChecker, check, testChecker } from './checker.ts';
import type { History, Kind } from './history.ts';
import { type Place, SCENES } from './scenes.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    /** Seconds between two faults; 0 for none. */
    every: { type: 'string', default: '6' },
    out: { type: 'string' },
    /** Only shows that the checker finds anomalies. */
    'self-test': { type: 'boolean', default: false },
  },
});
const wanted = Number(values.histories);
/** So many histories run at the same time. */
const WIDTH = 12;
/** A history in which fewer operations were answered says little, and is not counted. */
const LEAST_ANSWERED = 0.5;
/** More of them are a fault of the machine or of the servers. */
const MOST_POOR = 100;
const PASSWORD = 'correct horse battery';
const KINDS = Object.keys(SCENES) as Kind[];

const began = Date.now();
const say = (line: string) =>
  console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

async function openPlace({ urls }: Installation, random: Random): Promise<Place> {
  const root = { email: 'root@example.com', name: 'Root', password: PASSWORD };
  const { token: administrator } = await insist(urls, 'POST /auths/signup', { body: root });
  const config = await insist(urls, 'GET /configs/export', { token: administrator });
  // Accounts that sign up by themselves may sign in at once.
  config.ui.default_user_role = 'user';
  config.auth.enable_api_keys = true;
  config.user.permissions.features.api_keys = true;
  await insist(urls, 'POST /configs/import', { token: administrator, body: config });
  const account = { email: 'member@example.com', name: 'Member', password: PASSWORD };
  const { id } = await insist(urls, 'POST /users', {
    token: administrator,
    body: { ...account, role: 'user' },
  });
  const { token } = await insist(urls, 'POST /auths/signin', { body: account });
  return { urls, administrator, member: { id, token, ...account }, random };
}

/** Faults now and then, until the signal: processes, PostgreSQL and Redis are killed, and Redis is deaf for two seconds. */
async function disturb(
  { servers, postgres, redis }: Installation,
  everyMs: number,
  random: Random,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const faults: Record<string, () => Promise<void>> = {
    'kill a server': async () => {
      const server = pick(servers, random);
      await server.kill();
      await server.untilReady();
    },
    'kill redis': async () => {
      await redis.kill();
      await redis.restart();
    },
    'kill postgres': async () => {
      await postgres.kill();
      await postgres.start();
    },
    'pause redis': async () => {
      redis.hang();
      await delay(2_000);
      redis.resume();
    },
  };
  const counts: Record<string, number> = {};
  while (!signal.aborted && everyMs > 0) {
    await delay(everyMs * 2 * random(), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    // Kills of servers are the most frequent, as in life.
    const name = random() < 0.5 ? 'kill a server' : pick(Object.keys(faults), random);
    counts[name] = (counts[name] ?? 0) + 1;
    await faults[name]?.();
  }
  return counts;
}

async function recordAll(place: Place): Promise<{ histories: History[]; poor: number }> {
  const histories: History[] = [];
  let started = 0;
  let poor = 0;
  const run = async () => {
    while (histories.length < wanted) {
      if (poor > wanted + MOST_POOR) throw new Error(`${poor} histories had too few answers.`);
      const kind = KINDS[started % KINDS.length] as Kind;
      started += 1;
      const id = started;
      const { operations } = await SCENES[kind](place);
      const answered = operations.filter(({ output }) => output !== null).length;
      if (answered < LEAST_ANSWERED * operations.length || answered === 0) poor += 1;
      else histories.push({ id, kind, operations });
      if (histories.length % 500 === 0) say(`${histories.length} histories`);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, run));
  return { histories, poor };
}

const closers: (() => Promise<void>)[] = [];
const closeAll = closeOnSignal(closers);
const at = new Date().toISOString().replaceAll(':', '-');
const folder = values.out ?? join(import.meta.dirname, '../results', `linearizability-${at}`);
try {
  await mkdir(folder, { recursive: true });
  const checker = await buildChecker(folder);
  console.log(await testChecker(checker, folder));
  if (!values['self-test']) {
    const random = seeded(Number(values.seed));
    const installation = await startInstallation({ withFaults: false, withTools: false });
    closers.push(installation.stop);
    const place = await openPlace(installation, random);
    const over = new AbortController();
    const disturbing = disturb(
      installation,
      Number(values.every) * 1000,
      seeded(Number(values.seed) + 1),
      over.signal,
    );
    closers.push(async () => {
      over.abort();
      await disturbing;
    });
    const { histories, poor } = await recordAll(place);
    over.abort();
    const faults = await disturbing;
    const { checked, anomalies, undecided } = await check(checker, folder, histories);
    const operations = histories.flatMap((history) => history.operations);
    const unanswered = operations.filter(({ output }) => output === null).length;
    for (const kind of KINDS)
      console.log(`${kind}: ${histories.filter((one) => one.kind === kind).length} histories`);
    console.log(`operations: ${operations.length}, ${unanswered} of them without an answer`);
    console.log(`faults: ${JSON.stringify(faults)}; histories with too few answers, not counted: ${poor}`);
    console.log(
      `${checked} histories checked: ${anomalies.length} anomalies, ${undecided.length} undecided; ${folder}`,
    );
    if (anomalies.length + undecided.length > 0) process.exitCode = 1;
  }
} finally {
  await closeAll();
}
