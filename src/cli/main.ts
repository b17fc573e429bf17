import { AppError } from '../core/errors.ts';
import { readEnv, StartError } from '../env.ts';
import { createLog } from '../log.ts';
import { COMMANDS, UsageError, usage } from './commands.ts';

/** `npm run parley -- …`: the server's affairs from the shell, on its database, whether it runs or not. */
async function run(words: string[]): Promise<void> {
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, i) => words[i] === word));
  if (!command) throw new UsageError(words.length === 0 ? '' : `There is no command "${words.join(' ')}".`);
  const env = readEnv();
  // Lines for people; what is below a warning would only stand between them and the result.
  const log = createLog('warn');
  await command.run(words.slice(command.name.split(' ').length), { env, log });
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = 1;
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message === '' ? '' : `${error.message}\n`}${usage()}`);
    process.exitCode = 2;
  } else if (error instanceof StartError || error instanceof AppError) {
    process.stderr.write(`${error.message}\n`);
  } else {
    process.stderr.write(`${(error as Error).stack ?? error}\n`);
  }
}
