import { execFile } from 'node:child_process';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MEGABYTES = 192;
const MEGABYTE = 2 ** 20;

/** A small file system for uploads, which can be full. */
export interface SmallDisk {
  fill(): Promise<void>;
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** Mounts a small file system in memory at a folder; the reason in words where that is not possible. */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m,mode=0700`, 'parley-soak', folder]);
  } catch (error) {
    return `no file system can be mounted: ${(error as Error).message.trim().split('\n').at(-1)}`;
  }
  const ballast = join(folder, 'ballast.part');
  return {
    async fill() {
      const { bavail, bsize } = await statfs(folder);
      const chunk = Buffer.alloc(MEGABYTE);
      for (let left = bavail * bsize; left > 0; left -= MEGABYTE) {
        // A smaller last chunk: the file is written until the disk has no room.
        await writeFile(ballast, chunk.subarray(0, Math.min(left, MEGABYTE)), { flag: 'a' }).catch(() => {});
      }
    },
    empty: () => rm(ballast, { force: true }),
    close: async () => void (await run('umount', ['-l', folder])),
  };
}
