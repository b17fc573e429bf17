import { hash } from '@node-rs/argon2';
import { verifyPassword } from '../../src/users/passwords/passwords.ts';
import { startParley } from '../support/parley.ts';
import { loopDelay } from '../support/processes.ts';
import { plainResult, type Result } from '../support/report.ts';
import { median } from '../support/rounds.ts';
import type { Workspace } from '../support/workspace.ts';

const PASSWORD = 'a password of usual length';
/** The sign-in allows five attempts for an address in three minutes. */
const ALONE = 3;
const TOGETHER = 2;
const CROWD = 16;

const NOTING = `--import=${new URL('../support/delayOnSignal.ts', import.meta.url).href}`;

/**
 * Measures the cost of a sign-in beyond its one hash, which the client of this case makes in turn on the
 * server's core; and how late the event loop of the server is while many users sign in at once.
 */
export async function signin({ cluster, quick }: Workspace): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase('signin');
  const parley = await startParley({ databaseUrl, env: { NODE_OPTIONS: NOTING } });
  try {
    const emails = Array.from({ length: quick ? CROWD : 4 * CROWD }, (_, n) => `person-${n}@example.com`);
    for (const email of emails) {
      await parley.asAdministrator('POST /users', { email, name: 'Person', password: PASSWORD });
    }
    const stored = await hash(PASSWORD);
    const ours: number[] = [];
    const hashes: number[] = [];
    for (let attempt = 0; attempt < ALONE; attempt += 1) {
      for (const email of emails) {
        ours.push(await millisecondsOf(() => signIn(parley.url, email)));
        hashes.push(await millisecondsOf(() => verifyPassword({ passwordCost: 'full' }, stored, PASSWORD)));
      }
    }
    await loopDelay(parley.pid);
    for (let attempt = 0; attempt < TOGETHER; attempt += 1) {
      for (let first = 0; first < emails.length; first += CROWD) {
        await Promise.all(emails.slice(first, first + CROWD).map((email) => signIn(parley.url, email)));
      }
    }
    const { p99, max } = await loopDelay(parley.pid);
    const [whole, alone] = [median(ours), median(hashes)];
    return [
      {
        ...figure('sign-in, p50', whole, alone + 10),
        baseline: { what: 'its hash alone', figure: alone },
        ratio: whole / alone,
      },
      figure(`event loop late while ${CROWD} sign in, p99`, p99),
      figure(`event loop late while ${CROWD} sign in, at most`, max),
    ];
  } finally {
    await parley.stop();
  }
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function signIn(url: string, email: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/auths/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`A sign-in of ${email} answered ${response.status}: ${answer}`);
}

const figure = (what: string, ours: number, atMost?: number): Result => plainResult(what, 'ms', ours, atMost);
