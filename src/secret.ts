import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Env, SECRET_CHARACTERS, StartError } from './env.ts';

/**
 * The secret that all keys are derived from: `SECRET_KEY`, or one that the first start makes and keeps in the data folder,
 * readable only by the server's user.
 *
 * @throws StartError when the data folder cannot be written, or its secret is damaged
 */
export async function loadSecret(env: Pick<Env, 'SECRET_KEY' | 'DATA_DIR'>): Promise<string> {
  if (env.SECRET_KEY) return env.SECRET_KEY;
  const path = join(env.DATA_DIR, 'secret.key');
  let secret: string;
  try {
    await mkdir(env.DATA_DIR, { recursive: true, mode: 0o700 });
    secret = (await readFile(path, 'utf8').catch((error) => ifAbsent(error, () => make(path)))).trim();
  } catch (cause) {
    throw new StartError(
      `The data folder ${env.DATA_DIR} cannot be used (${(cause as Error).message}). Make it writable or set DATA_DIR.`,
      { cause },
    );
  }
  if (secret.length < SECRET_CHARACTERS) {
    throw new StartError(`The file ${path} is damaged. Restore it from a backup, or set SECRET_KEY.`);
  }
  return secret;
}

function ifAbsent<T>(error: NodeJS.ErrnoException, cure: () => T): T {
  if (error.code === 'ENOENT') return cure();
  throw error;
}

/**
 * Makes the secret. A crash must not leave half of one, and two simultaneous first starts must not make two: the file gets
 * its name when it is complete and on the disk, and the first file with the name wins.
 */
async function make(path: string): Promise<string> {
  const draft = `${path}.${process.pid}`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(randomBytes(48).toString('base64'));
    await file.sync();
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
  return readFile(path, 'utf8');
}
