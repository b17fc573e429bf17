import { randomBytes } from 'node:crypto';
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ByteStore, FILE_NAME, type StoredBytes } from './bytes.ts';

const UNFINISHED = '.part';

/** Keeps bytes in a folder, which is made if it is absent. Several processes may use it. */
export async function openFolder(root: string): Promise<ByteStore> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const pathOf = (id: string) => join(root, id);
  return {
    name: root,
    put: (id, bytes) => put(root, id, bytes),
    async open(id, range) {
      const file = await open(pathOf(id)).catch(ignoreMissing);
      return file?.createReadStream(range);
    },
    has: async (id) => (await stat(pathOf(id)).catch(ignoreMissing)) !== undefined,
    remove: (id) => rm(pathOf(id), { force: true }),
    list: () => list(root, (name) => FILE_NAME.test(name)),
    async removeUnfinished(before) {
      for await (const { id, storedAt } of list(root, (name) => name.endsWith(UNFINISHED)))
        if (storedAt < before) await rm(pathOf(id), { force: true });
    },
    close() {},
  };
}

/** The bytes get their name when they are all on the disk, safe against a power failure. */
async function put(root: string, id: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const draft = join(root, `${id}.${randomBytes(4).toString('hex')}${UNFINISHED}`);
  const file = await open(draft, 'wx', 0o600);
  try {
    await pipeline(bytes, file.createWriteStream({ flush: true }));
    await rename(draft, join(root, id));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  // The name is an entry of the folder, so the folder must be synced as well.
  const folder = await open(root);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function* list(root: string, isMeant: (name: string) => boolean): AsyncGenerator<StoredBytes> {
  for await (const { name } of await opendir(root)) {
    if (!isMeant(name)) continue;
    // Another process may have removed it.
    const info = await stat(join(root, name)).catch(ignoreMissing);
    if (info) yield { id: name, size: info.size, storedAt: info.mtimeMs };
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
