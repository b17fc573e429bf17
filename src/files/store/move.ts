import { createHash } from 'node:crypto';
import type { ByteStore } from './bytes.ts';
import type { StoredFile } from './stored.repository.ts';

const AT_ONCE = 8;

/** What a move has done so far. */
export interface Moved {
  /** Copied by this run. */
  copied: number;
  /** Found in the new place. */
  there: number;
  /** The ids of files whose bytes are missing in the old place, or are not those that were uploaded. */
  missing: string[];
  damaged: string[];
}

export interface MoveOptions {
  from: ByteStore;
  to: ByteStore;
  files: AsyncGenerator<StoredFile>;
  /** Reads also what is there, and copies it again if it is damaged. */
  verify: boolean;
  moved: Moved;
}

/** The bytes do not have the size and the hash of the row. */
class DamagedError extends Error {}

/**
 * Copies the bytes of files to another store. Bytes appear there only when all of them are stored and have the size and the hash of
 * their row. So what is there is complete, and a run that was killed is continued by the next one.
 */
export async function moveFiles(options: MoveOptions): Promise<void> {
  const { to, files } = options;
  const sizes = new Map<string, number>();
  for await (const { id, size } of to.list()) sizes.set(id, size);
  const work = async () => {
    for await (const file of files) await moveFile(options, file, sizes.get(file.id));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function moveFile(
  { from, to, verify, moved }: MoveOptions,
  file: StoredFile,
  sizeThere: number | undefined,
): Promise<void> {
  const { id } = file;
  if (sizeThere === file.size && (!verify || (await isWhole(to, file)))) {
    moved.there += 1;
    return;
  }
  const bytes = await from.open(id);
  if (!bytes) {
    moved.missing.push(id);
    return;
  }
  try {
    await to.put(id, checked(bytes, file));
    moved.copied += 1;
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    moved.damaged.push(id);
  } finally {
    bytes.destroy();
  }
}

async function isWhole(store: ByteStore, file: StoredFile): Promise<boolean> {
  const bytes = await store.open(file.id);
  if (!bytes) return false;
  try {
    for await (const _ of checked(bytes, file));
    return true;
  } catch (error) {
    if (error instanceof DamagedError) return false;
    throw error;
  }
}

/** The same bytes; fails at their end unless they have the size and the hash of the row. */
async function* checked(bytes: AsyncIterable<Buffer>, { size, sha256 }: StoredFile): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    hash.update(chunk);
    yield chunk;
  }
  if (count !== size || hash.digest('hex') !== sha256) throw new DamagedError();
}
