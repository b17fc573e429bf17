import { AppError } from '../core/errors.ts';
import { filesUrl } from '../env/files.ts';
import { type Env, StartError } from '../env.ts';
import { listKnownFiles } from '../files/files.repository.ts';
import type { ByteStore } from '../files/store/bytes.ts';
import { type Moved, moveFiles } from '../files/store/move.ts';
import { openBucketAt, openBytes } from '../files/store/open.ts';
import { claim } from '../files/store/owner.ts';
import { listStoredFiles } from '../files/store/stored.repository.ts';
import { showProgress } from '../progress.ts';
import type { CommandContext } from './context.ts';
import { occupyAlone, type Workplace, work } from './workplace.ts';

/** The folder of uploads in `DATA_DIR`. */
const FOLDER = 'folder';

export interface MoveStores {
  to: string;
  from?: string;
  verify?: boolean;
}

/**
 * Copies the bytes of all files to another place. Servers may run meanwhile, but then new files may be missing. When no server
 * runs, none can start until the copy is complete.
 *
 * @throws StartError when a place cannot be used, is interrupted, or bytes are missing or damaged
 */
export async function filesMove(options: MoveStores, context: CommandContext): Promise<void> {
  const { env, log } = context;
  const from = await openPlace(options.from, env);
  const to = await openPlace(options.to, env);
  if (from.name === to.name) throw new StartError(`The files are in ${to.name} already.`);
  try {
    await work(env, log, async (at) => {
      for (const place of [from, to]) await claim(place, at.configs.installationId);
      const alone = await occupyAlone(at, log).catch(() => null);
      try {
        await move(at, { ...options, from, to, isAlone: alone !== null }, context);
      } finally {
        await alone?.release();
      }
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new StartError(`${error.message} Then run this command again: it continues.`, { cause: error });
  } finally {
    from.close();
    to.close();
  }
}

/** @param place `folder`, or the address of a bucket; by default the place that the environment names */
async function openPlace(place: string | undefined, env: Env): Promise<ByteStore> {
  if (place === undefined) return openBytes(env);
  if (place === FOLDER) return openBytes({ DATA_DIR: env.DATA_DIR, FILES_URL: undefined });
  const { data, error } = filesUrl.safeParse(place);
  if (error) throw new StartError(`The place ${error.issues[0]?.message}, or ${FOLDER}.`);
  return openBucketAt(data);
}

interface Move {
  from: ByteStore;
  to: ByteStore;
  verify?: boolean;
  isAlone: boolean;
}

async function move(
  { sql }: Workplace,
  { from, to, verify = false, isAlone }: Move,
  { stdout, stderr }: CommandContext,
): Promise<void> {
  const moved: Moved = { copied: 0, there: 0, missing: [], damaged: [] };
  const endProgress = showProgress(
    (seconds) => `${seconds} s: ${moved.copied} files copied and ${moved.there} found so far.`,
  );
  try {
    await moveFiles({ from, to, files: listStoredFiles(sql), verify, moved });
  } finally {
    endProgress();
  }
  stdout.write(
    `${moved.copied + moved.there} files are in ${to.name}: ${moved.copied} copied now, ${moved.there} before.\n`,
  );
  // Files that were deleted meanwhile are not missing.
  const lost = [...(await listKnownFiles(sql, [...moved.missing, ...moved.damaged]))];
  for (const id of lost) {
    const fault = moved.damaged.includes(id) ? 'are damaged' : 'are missing';
    stderr.write(`The bytes of the file ${id} ${fault} in ${from.name}.\n`);
  }
  const next = to.remote ? 'set FILES_URL to this bucket' : 'unset FILES_URL';
  stdout.write(
    isAlone
      ? `Now ${next}, and start the servers. Nothing was removed from ${from.name}.\n`
      : `A server runs and may store more files. Stop all servers, run this command again, ${next}, and start them.\n`,
  );
  if (lost.length > 0) throw new StartError(`${lost.length} files could not be copied.`);
}
