import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Env, StartError } from './env.ts';

/**
 * The secret that all keys are derived from: `SECRET_KEY`, or one that the first start makes and keeps in the data folder,
 * readable by the server's user alone.
 *
 * @throws StartError when the data folder cannot be written
 */
export async function loadSecret(env: Pick<Env, 'SECRET_KEY' | 'DATA_DIR'>): Promise<string> {
  if (env.SECRET_KEY) return env.SECRET_KEY;
  const path = join(env.DATA_DIR, 'secret.key');
  try {
    await mkdir(env.DATA_DIR, { recursive: true, mode: 0o700 });
    // Two first starts at once must not end with two secrets: whoever creates the file decides.
    await writeFile(path, randomBytes(48).toString('base64'), { mode: 0o600, flag: 'wx' }).catch(
      ignoreExisting,
    );
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new StartError(
      `The data folder ${env.DATA_DIR} cannot be written (${(cause as Error).message}). Make it writable or set DATA_DIR.`,
      { cause },
    );
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
