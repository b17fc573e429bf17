import { statfs } from 'node:fs/promises';
import { Gauge } from 'prom-client';
import { AppError } from '../errors.ts';
import { keepSweeping } from '../sweep.ts';

declare module '../scope.ts' {
  interface Parts {
    readonly room: Room;
  }
}

/** The interval of the checks of the disks, which run outside calls. */
const LOOK_MS = 1_000;

const free = new Gauge({
  name: 'parley_storage_free_bytes',
  help: 'Free bytes of the fullest disk that the server writes to',
});

/** The free space on the disks that this server writes to. */
export interface Room {
  /** True while less than the reserve is free. */
  readonly isShort: boolean;
  /** Refuses an operation that would store data. @throws storage_full */
  require(): void;
  close(): Promise<void>;
}

/**
 * Checks the free space regularly, so that writes are refused before PostgreSQL has no space for its log:
 * without it PostgreSQL stops, and reads fail as well.
 *
 * @param folders      one on each disk
 * @param reserveBytes space that must stay free on each disk; 0 disables the check
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
