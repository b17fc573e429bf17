import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { PartState } from '../../core/readiness.ts';
import { keepSweeping } from '../../core/sweep.ts';
import { StartError } from '../../env.ts';
import { unavailable } from './bucket.errors.ts';
import type { ByteRange, ByteStore, RemoteStore } from './bytes.ts';
import { claim } from './owner.ts';

/** Enough to detect every file type that has a signature. */
const SAMPLE_BYTES = 4_100;
/**
 * How long an upload may exist without a row. Longer than the longest request, so that no running upload is
 * removed.
 */
const UNFINISHED_MS = 3_600_000;
const SWEEP_MS = 6 * 3_600_000;
const SWEEP_BATCH = 500;
const REMOVED_AT_ONCE = 16;
const LOOK_MS = 5_000;

export interface Received {
  size: number;
  /** Hex. */
  sha256: string;
  /** The first bytes. */
  sample: Buffer;
}

declare module '../../core/scope.ts' {
  interface Parts {
    readonly files: FileStore;
  }
}

/** Stores the bytes of uploads, each under its file's id, in a folder or a bucket. */
export interface FileStore {
  /**
   * Stores an upload: all of its bytes, or none.
   *
   * @param onTooLarge makes the error for more than `maxBytes`; reading stops there
   * @throws unavailable while the bucket does not answer, storage_full
   */
  receive(
    id: string,
    bytes: AsyncIterable<Buffer>,
    maxBytes: number,
    onTooLarge: () => Error,
  ): Promise<Received>;
  /** Removes the bytes of files. Never fails: the sweep removes what could not be removed. */
  remove(ids: readonly string[]): Promise<void>;
  /** Undefined when the bytes are gone. @throws unavailable */
  open(id: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Whether the bytes are there. @throws unavailable */
  has(id: string): Promise<boolean>;
  /** See `RemoteStore`. */
  readonly link: RemoteStore['link'];
  /** The state of the bucket; null with a folder. */
  state(): PartState | null;
  close(): Promise<void>;
}

export interface StoreOptions {
  bytes: ByteStore;
  /** The id of the installation, which a bucket is marked with. */
  installation: string;
  /** The given ids that have a row. */
  listKnown(among: string[]): Promise<Set<string>>;
  log: Logger;
}

/**
 * Begins to use a store. Regularly removes bytes without a row, which a crash or a deleted account leaves behind.
 *
 * @throws StartError when the bucket cannot be used. While it does not answer, the server starts without it
 */
export async function openFileStore(options: StoreOptions): Promise<FileStore> {
  const { bytes, log } = options;
  const watch = bytes.remote && (await watchRemote(options));
  const sweeping = keepSweeping(
    SWEEP_MS,
    (signal) => sweep(options, signal),
    (error) => log.warn({ err: error }, 'Files of uploads that did not end could not be removed.'),
  );
  return {
    async receive(id, content, maxBytes, onTooLarge) {
      watch?.requireOwn();
      return receive(bytes, id, content, maxBytes, onTooLarge);
    },
    async remove(ids) {
      try {
        for (let next = 0; next < ids.length; next += REMOVED_AT_ONCE)
          await Promise.all(ids.slice(next, next + REMOVED_AT_ONCE).map((id) => bytes.remove(id)));
      } catch (error) {
        log.warn({ err: error }, 'The bytes of a deleted file could not be removed; the sweep tries again.');
      }
    },
    open: (id, range) => bytes.open(id, range),
    has: (id) => bytes.has(id),
    link: bytes.remote?.link,
    state: () => watch?.state() ?? null,
    async close() {
      await Promise.all([sweeping.close(), watch?.close()]);
      bytes.close();
    },
  };
}

/** Claims a bucket, and looks regularly whether it answers and still belongs to this installation. */
async function watchRemote({ bytes, installation, log }: StoreOptions) {
  let failed: unknown = null;
  let isOwn = false;
  const note = (error: unknown) => {
    if (error && !failed) log.warn({ err: error }, 'The bucket of files cannot be used.');
    if (!error && failed) log.info('The bucket of files can be used again.');
    failed = error;
    // An outage says nothing about the owner.
    if (!error || error instanceof StartError) isOwn = !error;
  };
  const look = () => claim(bytes, installation).then(() => note(null), note);
  await look();
  if (failed instanceof StartError) throw failed;
  const watching = keepSweeping(LOOK_MS, look, note);
  return {
    state: (): PartState =>
      failed ? { state: 'degraded', detail: 'does not answer' } : { state: 'ok', detail: 'answers' },
    /** The owner of the bucket would remove the files of others. @throws unavailable */
    requireOwn() {
      if (!isOwn) throw unavailable(failed);
    },
    close: () => watching.close(),
  };
}

async function receive(
  store: ByteStore,
  id: string,
  bytes: AsyncIterable<Buffer>,
  maxBytes: number,
  onTooLarge: () => Error,
): Promise<Received> {
  const hash = createHash('sha256');
  const beginning: Buffer[] = [];
  let size = 0;
  async function* measure() {
    for await (const chunk of bytes) {
      if (size < SAMPLE_BYTES) beginning.push(chunk.subarray(0, SAMPLE_BYTES - size));
      size += chunk.length;
      if (size > maxBytes) throw onTooLarge();
      hash.update(chunk);
      yield chunk;
    }
  }
  await store.put(id, measure());
  return { size, sha256: hash.digest('hex'), sample: Buffer.concat(beginning) };
}

/** Removes old bytes without a row. Other processes may use the same store at the same time. */
async function sweep({ bytes, installation, listKnown }: StoreOptions, signal: AbortSignal): Promise<void> {
  await claim(bytes, installation);
  const before = Date.now() - UNFINISHED_MS;
  await bytes.removeUnfinished(before);
  let batch: string[] = [];
  const judge = async () => {
    const known = await listKnown(batch);
    for (const id of batch) if (!known.has(id)) await bytes.remove(id);
    batch = [];
  };
  for await (const { id, storedAt } of bytes.list()) {
    if (signal.aborted) return;
    if (storedAt < before) batch.push(id);
    if (batch.length >= SWEEP_BATCH) await judge();
  }
  if (batch.length > 0) await judge();
}
