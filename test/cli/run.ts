import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { COMPILED } from '../support/process.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts `node src/cli/main.ts` with this environment; only PATH comes from the environment of the test. */
export const start = (words: string[], env: Record<string, string>) =>
  spawn(process.execPath, [MAIN, ...words], {
    env: { ...COMPILED, PATH: process.env.PATH ?? '', ENV: 'test', PYTHON: '/dev/null', ...env },
    stdio: 'pipe',
  });

/** Runs a command to its end. */
export async function run(words: string[], env: Record<string, string>, input = ''): Promise<Outcome> {
  const child = start(words, env);
  // A command that reads no input may have ended before the write.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}
