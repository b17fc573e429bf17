import pg from 'pg';
import type { Watched, WatchOptions, WatchTask } from '../load/watch.ts';
import type { Attack, AttackTarget } from '../support/attack.ts';
import { type Child, startChild } from '../support/child.ts';
import { type Parley, startParley } from '../support/parley.ts';
import { hasProc, residentMemory } from '../support/processes.ts';
import { plainResult, type Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';
import { ATTACKS } from './availability/attacks.ts';

/** Calls of another user; all of them need the database. */
const OTHERS = ['/api/v1/auths/', '/api/v1/channels/', '/api/v1/users/search?query=e'];
const PEOPLE = 2_000;
const CHANNELS = 20;
const PER_SECOND = 20;

/**
 * Runs each attack of `availability/` on a server of its own, and measures how long other users wait
 * meanwhile. `ATTACK` names a single attack to run.
 */
export async function availability(workspace: Workspace): Promise<Result[]> {
  const results: Result[] = [];
  const { ATTACK: only } = process.env;
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (only !== undefined && name !== only) continue;
    console.error(`  ${attack.what} …`);
    results.push(...(await measure(workspace, name, attack)));
  }
  return results;
}

async function measure({ cluster, quick }: Workspace, name: string, attack: Attack): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase(`availability_${name.toLowerCase()}`);
  const parley = await startParley({ databaseUrl });
  const stops: (() => Promise<void>)[] = [parley.stop];
  try {
    await fill(parley, databaseUrl);
    const prepared = await attack.prepare?.(parley);
    const watch = async (paths: string[]) => {
      const headers = { authorization: `Bearer ${parley.token}` };
      const options: WatchOptions = { url: parley.url, headers, paths };
      const child = await startChild('load/watch.ts', 'load', options);
      stops.push(child.stop);
      return child;
    };
    const watchers = { health: await watch(['/health']), others: await watch(OTHERS) };
    // The first calls of a process are slow without an attack, too, because of compilers and caches.
    await askBoth(watchers, { seconds: 5, perSecond: 2 * PER_SECOND });
    const quiet = await askBoth(watchers, { seconds: quick ? 3 : 10, perSecond: PER_SECOND });

    const target: AttackTarget = { url: parley.url, token: await signUp(parley), prepared };
    const attacker = await startChild('load/attack.ts', 'load', { name, target });
    stops.push(attacker.stop);
    const beside = await askBoth(watchers, { seconds: quick ? 3 : 10, perSecond: PER_SECOND });
    await attacker.stop();

    const { what, targets } = attack;
    const failures = beside.others.map(({ failed }) => Object.values(failed)).flat(2);
    return [
      ...latencies(what, '`/health`', quiet.health, beside.health, targets.health),
      ...latencies(what, 'others', quiet.others, beside.others, targets.others),
      plainResult(`${what}: calls of others refused or lost`, 'calls', sum(failures), 0),
      ...(hasProc
        ? [plainResult(`${what}: memory at its peak`, 'MB', residentMemory(parley.pid).peak, targets.memory)]
        : []),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

async function askBoth({ health, others }: Record<'health' | 'others', Child<unknown>>, task: WatchTask) {
  const [ofHealth, ofOthers] = await Promise.all([
    health.ask<Record<string, Watched>>(task),
    others.ask<Record<string, Watched>>(task),
  ]);
  return { health: Object.values(ofHealth), others: Object.values(ofOthers) };
}

/** The worst of several paths. */
const worst = (watched: Watched[], of: 'p50' | 'p99') => Math.max(...watched.map((one) => one[of]));

const latencies = (
  what: string,
  whose: string,
  quiet: Watched[],
  beside: Watched[],
  atMost: number | undefined,
): Result[] =>
  (['p50', 'p99'] as const).map((of) => ({
    ...plainResult(`${what}: ${whose}, ${of}`, 'ms', worst(beside, of), of === 'p99' ? atMost : undefined),
    baseline: { what: 'no attack', figure: worst(quiet, of) },
    ratio: worst(beside, of) / worst(quiet, of),
  }));

/** Makes an ordinary user for the attacker. */
async function signUp({ url, asAdministrator }: Parley): Promise<string> {
  const account = { name: 'attacker', email: 'attacker@example.com', password: 'a password that is long' };
  const post = async (path: string) => {
    const response = await fetch(`${url}/api/v1/auths/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(account),
    });
    return (await response.json()) as { id: string; token: string };
  };
  const { id } = await post('signup');
  await asAdministrator(`POST /users/${id}/update`, { role: 'user' });
  return (await post('signin')).token;
}

/** Makes people to search for, and channels that everyone may read. */
async function fill({ asAdministrator }: Parley, databaseUrl: string): Promise<void> {
  for (let made = 0; made < CHANNELS; made += 1) {
    const grant = { principal_type: 'user', principal_id: '*', permission: 'read' };
    await asAdministrator('POST /channels/create', { name: `channel ${made}`, access_grants: [grant] });
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query(
      `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
       select gen_random_uuid(), i || '@people.org', 'Person ' || md5(i::text), 'user', '', 0, 0, 0
         from generate_series(1, $1::int) i`,
      [PEOPLE],
    );
    await client.query('vacuum analyze users');
  } finally {
    await client.end();
  }
}
