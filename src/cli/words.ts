import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The command was not given as it is meant; the message says how it differs. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * Reads what follows a command's name.
 *
 * @throws UsageError for unknown options, and for fewer or more words than `from` to `to`
 */
export function readWords<O extends Options>(args: string[], options: O, [from, to]: [number, number]) {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length < from) throw new UsageError('Something is missing.');
    if (positionals.length > to) throw new UsageError(`"${positionals[to]}" is too much.`);
    return { values, words: positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}

/** All of standard input. */
export const readInput = (): Promise<string> => text(process.stdin);

/** A password, which the command line must not hold: others see that. Typed ones are not shown. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await readInput()).replace(/\r?\n$/, '');
  process.stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await new Promise((resolve) => lines.question('', resolve));
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
