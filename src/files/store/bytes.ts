import type { Readable } from 'node:stream';
import { UUID } from '../../core/wire.ts';

export interface StoredBytes {
  id: string;
  size: number;
  /** When they were stored, in milliseconds. */
  storedAt: number;
}

/** The first and the last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Keeps the bytes of files, each under the id of its file. Operations of a bucket fail with `unavailable` during an outage.
 */
export interface ByteStore {
  /** For messages to operators. */
  readonly name: string;
  /** Stores all bytes, or none when their stream fails. */
  put(id: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Undefined when there are no bytes under the id. */
  open(id: string, range?: ByteRange): Promise<Readable | undefined>;
  has(id: string): Promise<boolean>;
  remove(id: string): Promise<void>;
  list(): AsyncIterable<StoredBytes>;
  /** Removes what remains of uploads that began before a time and did not end. */
  removeUnfinished(before: number): Promise<void>;
  /** For a bucket only. */
  readonly remote?: RemoteStore;
  close(): void;
}

export interface RemoteStore {
  /** The installation that stores its files here; undefined in an empty place. @throws AppError, which `faultIn` explains */
  readOwner(): Promise<string | undefined>;
  setOwner(installation: string): Promise<void>;
  /** The wrong setting behind an error; undefined for an outage. */
  faultIn(error: unknown): string | undefined;
  /**
   * A signed address of the bytes, valid for a minute. Type and disposition are part of the signature. Undefined unless the
   * operator has chosen presigned downloads.
   */
  link?: (id: string, answer: { contentType: string; disposition: string }) => Promise<string>;
}

/** Only names of this form are files. */
export const FILE_NAME = new RegExp(`^${UUID}$`);
