import { statfs } from 'node:fs/promises';
import { Gauge } from 'prom-client';
import { AppError } from './errors.ts';
import { keepSweeping } from './sweep.ts';

declare module './scope.ts' {
  interface Parts {
    readonly room: Room;
  }
}

/** How often the disks are looked at, off the path of calls. */
const LOOK_MS = 1_000;

const free = new Gauge({
  name: 'parley_storage_free_bytes',
  help: 'Free bytes of the fullest disk that the server writes to',
});

/** The room on the disks that this server writes to. */
export interface Room {
  /** True while less is free than the reserve. */
  readonly isShort: boolean;
  /** Refuses what would store something. @throws storage_full */
  require(): void;
  close(): Promise<void>;
}

/**
 * Keeps looking at free room, so that writes are refused before PostgreSQL has none for its log: without room it
 * stops, and reads fail as well.
 *
 * @param folders      one on each disk
 * @param reserveBytes what has to stay free on each; 0 switches this off
 */
export async function watchRoom(
  folders: readonly string[],
  reserveBytes: number,
  log: { warn(line: string): void },
): Promise<Room> {
  let isShort = false;
  const look = async () => {
    const sizes = await Promise.all(folders.map(freeBytes));
    const least = Math.min(...sizes);
    free.set(least);
    const wasShort = isShort;
    isShort = least < reserveBytes;
    if (isShort && !wasShort)
      log.warn(
        `Only ${least} bytes are free on the disk: what would store something is refused until more are.`,
      );
    if (!isShort && wasShort) log.warn('The disk has room again.');
  };
  const onError = (error: unknown) => log.warn(`The free room of the disk is not known: ${error}.`);
  if (reserveBytes > 0) await look().catch(onError);
  const looking = reserveBytes > 0 ? keepSweeping(LOOK_MS, look, onError) : null;
  return {
    get isShort() {
      return isShort;
    },
    require() {
      if (isShort) throw new AppError('storage_full');
    },
    close: async () => looking?.close(),
  };
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
