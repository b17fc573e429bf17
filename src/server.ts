import { parseArgs } from 'node:util';
import { type Env, readEnv, StartError } from './env.ts';

/** The flags of the command line. @throws StartError for a wrong one */
function readFlags(): { workers?: string } {
  try {
    return parseArgs({ options: { workers: { type: 'string' } } }).values;
  } catch (cause) {
    throw new StartError(`${(cause as Error).message} The only option of a start is --workers.`, { cause });
  }
}

function readOrFail(): Env {
  try {
    return readEnv(undefined, readFlags());
  } catch (error) {
    process.stderr.write(
      error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? error}\n`,
    );
    process.exit(1);
  }
}

const env = readOrFail();
// Each of the two loads only its own part of the program.
if (env.WORKERS > 1 && !env.worker) await (await import('./workers/primary.ts')).runPrimary(env);
else await (await import('./serve.ts')).serve(env);
