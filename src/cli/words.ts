import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import type { Streams } from './context.ts';

/** Checks input with the schemas of the API. @throws InvalidArgumentError */
export function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It ${parsed.error.issues[0]?.message}.`);
}

/** All of standard input. */
export const readInput = ({ stdin }: Pick<Streams, 'stdin'>): Promise<string> => text(stdin);

/** Reads a password. It is no argument, because other users can see the command line. What is typed is not shown. */
export async function readPassword({ stdin, stderr }: Streams): Promise<string> {
  if (!stdin.isTTY) return (await readInput({ stdin })).replace(/\r?\n$/, '');
  stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    return await new Promise((resolve) => lines.question('', resolve));
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
