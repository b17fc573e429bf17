import { startParley } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import { median } from '../support/rounds.ts';
import type { Workspace } from '../support/workspace.ts';

/** Below the limit of attempts for an address. */
const ATTEMPTS = 4;

/**
 * Measures whether the time of a refused sign-in shows that an address has an account. Known and unknown
 * addresses take turns, so that other work of the machine affects both alike.
 */
export async function enumeration({ cluster, quick }: Workspace): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase('enumeration');
  const parley = await startParley({ databaseUrl });
  try {
    const accounts = quick ? 10 : 150;
    for (let i = 0; i < accounts; i += 1) {
      await parley.asAdministrator('POST /users', {
        email: `known-${i}@example.com`,
        name: 'Known',
        password: 'a password that nobody tries',
      });
    }
    const known: number[] = [];
    const unknown: number[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      for (let i = 0; i < accounts; i += 1) {
        const turns: [number[], string][] = [
          [known, `known-${i}@example.com`],
          [unknown, `other-${i}@example.com`],
        ];
        if ((attempt + i) % 2 === 1) turns.reverse();
        for (const [times, email] of turns) times.push(await refusalMs(parley.url, email));
      }
    }
    const apart = Math.abs(median(known) - median(unknown));
    return [
      plainResult('refused sign-in, a known address, median', 'ms', median(known)),
      plainResult('refused sign-in, known and unknown apart', 'ms', apart),
      // The approximate share of right guesses by the time alone, when half of the addresses are known; 0.5
      // is chance.
      plainResult(
        'refused sign-in, guesses right by its time',
        'of 1',
        0.5 + Math.abs(shareAbove(known, unknown) - 0.5),
        0.55,
      ),
    ];
  } finally {
    await parley.stop();
  }
}

async function refusalMs(url: string, email: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${url}/api/v1/auths/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'a wrong password' }),
  });
  await response.arrayBuffer();
  const took = performance.now() - began;
  if (response.status !== 400) throw new Error(`A sign-in of ${email} answered ${response.status}.`);
  return took;
}

/**
 * The probability that a number of the first list is above a number of the second: the area under the ROC
 * curve (Mann and Whitney).
 */
function shareAbove(one: number[], other: number[]): number {
  const above = one.reduce(
    (sum, a) => sum + other.reduce((count, b) => count + (a > b ? 1 : a === b ? 0.5 : 0), 0),
    0,
  );
  return above / (one.length * other.length);
}
