import { AppError } from '../core/errors.ts';
import { readEnv, StartError } from '../env.ts';
import { createLog } from '../log.ts';
import { COMMANDS, type Command, UsageError, usage } from './commands.ts';

const HELP = new Set(['help', '--help', '-h']);
const isNamed = ({ name }: Command, words: string[]) => name.split(' ').every((word, i) => words[i] === word);
/** What the words can be about: a command, those that begin with the first word, else all. */
const meant = (words: string[]) =>
  [
    COMMANDS.filter((command) => isNamed(command, words)),
    COMMANDS.filter(({ name }) => name.startsWith(`${words[0]} `)),
  ].find((some) => some.length > 0) ?? COMMANDS;

/** `npm run parley -- …`: the server's affairs from the shell, on its database, whether it runs or not. */
async function run(words: string[]): Promise<void> {
  if (words.some((word) => HELP.has(word))) {
    const others = words.filter((word) => !HELP.has(word));
    process.stdout.write(usage(meant(others)));
    return;
  }
  const command = COMMANDS.find((one) => isNamed(one, words));
  if (!command) throw new UsageError(words.length === 0 ? '' : `There is no command "${words.join(' ')}".`);
  const env = readEnv();
  // Lines for people; what is below a warning would only stand between them and the result.
  const log = createLog('warn');
  await command.run(words.slice(command.name.split(' ').length), { env, log });
}

const given = process.argv.slice(2);
try {
  await run(given);
} catch (error) {
  process.exitCode = 1;
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message === '' ? '' : `${error.message}\n`}${usage(meant(given))}`);
    process.exitCode = 2;
  } else if (error instanceof StartError || error instanceof AppError) {
    process.stderr.write(`${error.message}\n`);
  } else {
    process.stderr.write(`${(error as Error).stack ?? error}\n`);
  }
}
