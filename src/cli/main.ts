import { runCommand } from './run.ts';

// A reader such as `head` may end before everything is written. The command must still stop what it started.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runCommand(process.argv.slice(2), process);
