import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ANOMALOUS, type History, LEGAL } from './history.ts';

const run = promisify(execFile);
const SOURCE = join(import.meta.dirname, 'checker');

export interface Checked {
  checked: number;
  /** Ids of histories that no order explains. Each is drawn in `anomaly-<id>.html`. */
  anomalies: number[];
  undecided: number[];
}

/** Builds the checker; Go fetches Porcupine through its module proxy at the first time. @throws Error without Go */
export async function buildChecker(folder: string): Promise<string> {
  const path = join(folder, 'checker');
  await run('go', ['build', '-o', path, '.'], { cwd: SOURCE }).catch((error: Error) => {
    throw new Error(`The checker was not built. It needs Go (Debian: golang). ${error.message}`);
  });
  return path;
}

/** Checks histories in a file of the folder. */
export async function check(
  checker: string,
  folder: string,
  histories: readonly History[],
): Promise<Checked> {
  const path = join(folder, 'histories.jsonl');
  await writeFile(path, histories.map((history) => `${JSON.stringify(history)}\n`).join(''));
  const { stdout } = await run(checker, [path]);
  return JSON.parse(stdout) as Checked;
}

/** Shows that the checker accepts what is right, and finds each sort of anomaly. @throws Error when it does not */
export async function testChecker(checker: string, folder: string): Promise<string> {
  const { anomalies } = await check(checker, folder, [...LEGAL, ...ANOMALOUS]);
  const wanted = ANOMALOUS.map(({ id }) => id);
  if (JSON.stringify(anomalies) !== JSON.stringify(wanted))
    throw new Error(`The checker found ${anomalies} among its samples, not ${wanted}.`);
  return `The checker accepts ${LEGAL.length} legal samples and finds the anomaly in each of ${wanted.length} others.`;
}
