import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCommand } from '../../src/cli/run.ts';
import { COMPILED } from '../support/process.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

const environment = (env: Record<string, string>) => ({ ENV: 'test', PYTHON: '/dev/null', ...env });

/** Starts `node src/cli/main.ts` with this environment; only PATH comes from the environment of the test. */
export const start = (words: string[], env: Record<string, string>) =>
  spawn(process.execPath, [MAIN, ...words], {
    env: { ...COMPILED, PATH: process.env.PATH ?? '', ...environment(env) },
    stdio: 'pipe',
  });

/** Runs a command to its end in this process, since loading the program takes longer than most commands. */
export async function run(words: string[], env: Record<string, string>, input = ''): Promise<Outcome> {
  const [stdout, stderr] = [collect(), collect()];
  const streams = { stdin: Readable.from([input]), stdout: stdout.stream, stderr: stderr.stream };
  const code = await runCommand(words, streams, environment(env));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect() {
  let written = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  return { stream, text: () => written };
}
