import { CommanderError } from 'commander';
import { AppError } from '../core/errors.ts';
import { StartError } from '../env.ts';
import { buildProgram } from './commands.ts';

// A reader such as `head` may leave before everything is written. The command still has to stop what it started.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = 1;
  if (error instanceof CommanderError) {
    // Commander has written its message. A group without a command shows its help.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof StartError || error instanceof AppError) {
    process.stderr.write(`${error.message}\n`);
  } else {
    process.stderr.write(`${(error as Error).stack ?? error}\n`);
  }
}
