import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { z } from 'zod';
import { StartError } from '../env.ts';

/** The version of the format. It is raised when older programs cannot read the archive. */
export const FORMAT = 2;
/** The version of an archive with uploads, which older programs can read. */
export const FORMAT_WITH_FILES = 1;

/** The first entry. */
export const Manifest = z.object({
  format: z.int(),
  program: z.string(),
  made_at: z.string(),
  /** Names of the migrations that had run, in order. */
  migrations: z.array(z.string()).min(1),
  /** The tables of the archive and their columns. */
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()).min(1) })),
  /** The last value of each sequence. */
  sequences: z.record(z.string(), z.number()),
  /** Whether the archive holds the uploads. */
  has_files: z.boolean().default(true),
});
export type Manifest = z.infer<typeof Manifest>;

/** The last entry: an archive without it was cut short. */
export const Summary = z.object({ rows: z.record(z.string(), z.number()), files: z.number() });
export type Summary = z.infer<typeof Summary>;

/** What was written or read so far. */
export interface Tally {
  rows: number;
  files: number;
}

/** Names of the entries. Rows are lists in `database/<table>/<number>.json`, uploads are under `uploads/`. */
export const ENTRY = {
  manifest: 'manifest.json',
  secret: 'secret.key',
  rows: 'database/',
  uploads: 'uploads/',
  summary: 'summary.json',
} as const;

export interface ArchiveWriter {
  add(name: string, content: string | Buffer): Promise<void>;
  /** Adds a file of a known size. */
  stream(name: string, size: number, content: Readable): Promise<void>;
}

/**
 * Writes an archive (tar, gzip). Only its owner may read it, because it holds the secret. The file gets its name when it is
 * complete and on the disk.
 *
 * @throws StartError when there is a file of that name
 */
export async function writeArchive(
  path: string,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const draft = `${path}.part`;
  const reserved = await open(path, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'EEXIST' ? 'it exists' : cause.message;
    throw new StartError(`The archive ${path} cannot be written: ${why}.`, { cause });
  });
  await reserved.close();
  const tar = pack();
  try {
    const written = pipeline(tar, createGzip(), createWriteStream(draft, { mode: 0o600, flush: true }));
    // The error is handled at the await; until then a full disk must not end the process.
    written.catch(() => {});
    const failed = written.then<never>(() => new Promise(() => {}));
    await Promise.race([failed, fillTar(tar, fill)]);
    tar.finalize();
    await written;
    await rename(draft, path);
  } catch (error) {
    tar.destroy();
    await rm(draft, { force: true });
    await rm(path, { force: true });
    throw error;
  }
}

async function fillTar(
  tar: ReturnType<typeof pack>,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  await fill({
    add: (name, content) =>
      new Promise((resolve, reject) => {
        tar.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()));
      }),
    stream: (name, size, content) => pipeline(content, tar.entry({ name, size, mode: 0o600 })),
  });
}

/** One entry, which can be read once. @throws StartError when the archive is damaged */
export interface ArchiveEntry {
  name: string;
  text(): Promise<string>;
  bytes(): AsyncIterable<Buffer>;
}

/**
 * The entries of an archive in order; each must be read before the next.
 *
 * @throws StartError when it cannot be read, is cut short or damaged
 */
export async function* readArchive(path: string): AsyncGenerator<ArchiveEntry> {
  const tar = extract();
  const unreadable = (cause: unknown) => {
    const words = (cause as Error).message.replaceAll(/\s+/g, ' ');
    return new StartError(`The archive ${path} cannot be read: ${words}.`, { cause });
  };
  const read = pipeline(createReadStream(path), createGunzip(), tar);
  // The error is handled at the await.
  read.catch(() => {});
  try {
    for await (const entry of tar) {
      const content = entry as unknown as Readable;
      const { name, type } = entry.header;
      if (type !== 'file') {
        content.resume();
        continue;
      }
      yield {
        name,
        text: () => text(content).catch((cause) => Promise.reject(unreadable(cause))),
        async *bytes() {
          try {
            yield* content as AsyncIterable<Buffer>;
          } catch (cause) {
            throw unreadable(cause);
          }
        },
      };
    }
    await read;
  } catch (cause) {
    throw unreadable(cause);
  } finally {
    tar.destroy();
  }
}
