import { CommanderError } from 'commander';
import { AppError } from '../core/errors.ts';
import { readEnv, StartError } from '../env.ts';
import { createLog } from '../log.ts';
import { buildProgram } from './commands.ts';
import type { Streams } from './context.ts';

/**
 * Runs a command line and returns its exit code: 1 for a failure, 2 for a wrong command line.
 *
 * @param env replaces the environment of the process in tests
 */
export async function runCommand(
  words: readonly string[],
  { stdin, stdout, stderr }: Streams,
  env?: NodeJS.ProcessEnv,
): Promise<number> {
  const streams = { stdin, stdout, stderr };
  // The environment is read when a command runs: help and version need none. Only warnings are logged.
  const context = () => ({ env: readEnv(env), log: createLog('warn', stderr), ...streams });
  try {
    await buildProgram(context, streams).parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has written its message. A group without a command shows its help.
      return error.exitCode === 0 ? 0 : 2;
    }
    const isForOperator = error instanceof StartError || error instanceof AppError;
    stderr.write(`${isForOperator ? error.message : ((error as Error).stack ?? error)}\n`);
    return 1;
  }
}
