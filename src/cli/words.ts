import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** All of standard input. */
export const readInput = (): Promise<string> => text(process.stdin);

/** Reads a password. The command line must not hold it, because other users can see that. A typed one is not shown. */
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
