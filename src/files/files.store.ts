import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UUID } from '../core/wire.ts';

/** Enough to detect every file type that has a signature. */
const SAMPLE_BYTES = 4_100;
/**
 * How long an upload may exist without a row. Longer than the longest request, so that no running upload is
 * removed.
 */
const UNFINISHED_MS = 3_600_000;
const SWEEP_MS = 6 * 3_600_000;
const SWEEP_BATCH = 500;

const UNFINISHED = '.part';

export interface Received {
  size: number;
  /** Hex. */
  sha256: string;
  /** The first bytes. */
  sample: Buffer;
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly files: FileStore;
  }
}

/** Stores the bytes of uploads, each under its file's id. */
export interface FileStore {
  /**
   * Streams an upload to the disk, under a name that marks it as unfinished.
   *
   * @param onTooLarge makes the error for more than `maxBytes`; reading stops there
   */
  receive(
    id: string,
    bytes: AsyncIterable<Buffer>,
    maxBytes: number,
    onTooLarge: () => Error,
  ): Promise<Received>;
  /** Gives a received upload its final name, safe against a power failure. */
  keep(id: string): Promise<void>;
  /** Removes the bytes of a file, finished or not. */
  remove(id: string): Promise<void>;
  /** The bytes from `start` to `end`, both included. */
  read(id: string, range?: { start: number; end: number }): Readable;
  /** Whether the bytes are there. */
  has(id: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface StoreOptions {
  dataDir: string;
  /** The given ids that have a row. */
  listKnown(among: string[]): Promise<Set<string>>;
  onError(error: unknown): void;
}

/**
 * Opens the folder of uploads. Regularly removes bytes without a row, which a crash or a deleted account
 * leaves behind.
 */
export async function openFileStore({ dataDir, listKnown, onError }: StoreOptions): Promise<FileStore> {
  const root = join(dataDir, 'uploads');
  await mkdir(root, { recursive: true, mode: 0o700 });
  const pathOf = (id: string) => join(root, id);

  let isClosed = false;
  const sweepAll = () => sweep(root, listKnown, () => isClosed).catch(onError);
  let sweeping = sweepAll();
  const timer = setInterval(() => {
    sweeping = sweepAll();
  }, SWEEP_MS).unref();

  return {
    receive: (id, bytes, maxBytes, onTooLarge) =>
      receive(pathOf(id) + UNFINISHED, bytes, maxBytes, onTooLarge),
    async keep(id) {
      await rename(pathOf(id) + UNFINISHED, pathOf(id));
      // The name is an entry of the folder, so the folder must be synced as well.
      await syncFolder(root);
    },
    async remove(id) {
      await Promise.all([rm(pathOf(id), { force: true }), rm(pathOf(id) + UNFINISHED, { force: true })]);
    },
    read: (id, range) => createReadStream(pathOf(id), range),
    has: (id) =>
      stat(pathOf(id)).then(
        () => true,
        () => false,
      ),
    async close() {
      isClosed = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}

async function receive(
  path: string,
  bytes: AsyncIterable<Buffer>,
  maxBytes: number,
  onTooLarge: () => Error,
): Promise<Received> {
  // Created first, so that any later failure can remove the file.
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  const beginning: Buffer[] = [];
  let size = 0;
  await pipeline(
    bytes,
    async function* measure(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        if (size < SAMPLE_BYTES) beginning.push(chunk.subarray(0, SAMPLE_BYTES - size));
        size += chunk.length;
        if (size > maxBytes) throw onTooLarge();
        hash.update(chunk);
        yield chunk;
      }
    },
    file.createWriteStream({ flush: true }),
  );
  return { size, sha256: hash.digest('hex'), sample: Buffer.concat(beginning) };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Removes old files without a row. Other processes may use the same folder at the same time. */
async function sweep(
  root: string,
  listKnown: StoreOptions['listKnown'],
  isClosed: () => boolean,
): Promise<void> {
  const now = Date.now();
  let batch: string[] = [];
  const judge = async () => {
    const known = await listKnown(batch);
    for (const id of batch) if (!known.has(id)) await rm(join(root, id), { force: true });
    batch = [];
  };
  for await (const { name } of await opendir(root)) {
    if (isClosed()) return;
    const info = await stat(join(root, name)).catch(() => undefined);
    if (!info || now - info.mtimeMs < UNFINISHED_MS) continue;
    if (name.endsWith(UNFINISHED)) await rm(join(root, name), { force: true });
    else if (FILE_NAME.test(name)) batch.push(name);
    if (batch.length >= SWEEP_BATCH) await judge();
  }
  if (batch.length > 0) await judge();
}

/** Only files with names of this form are removed. */
const FILE_NAME = new RegExp(`^${UUID}$`);
