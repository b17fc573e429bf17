import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Streams } from './context.ts';

/** All of standard input. */
export const readInput = ({ stdin }: Pick<Streams, 'stdin'>): Promise<string> => text(stdin);

/** Reads a password. The command line must not hold it, because other users can see that. A typed one is not shown. */
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
