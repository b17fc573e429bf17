import type { Readable } from 'node:stream';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { getFile } from './files.service.ts';

/** Types that a browser may show in this origin: pictures without script. Other types are downloaded. */
const INLINE = new Set(['image/png', 'image/apng', 'image/jpeg', 'image/gif', 'image/webp']);

export interface FileContent {
  filename: string;
  contentType: string;
  size: number;
  /** SHA-256, hex. The content of an id never changes. */
  hash: string;
  isInline: boolean;
  /** Opens the bytes from `start` to `end`, both included; all bytes by default. */
  open(range?: { start: number; end: number }): Readable;
}

/** The content of a file, for its readers. @throws not_found, also if the bytes are missing from the disk */
export async function getContent(scope: Scope, id: string): Promise<FileContent> {
  const { filename, hash, meta } = await getFile(scope, id);
  if (!(await scope.files.has(id))) {
    scope.log.error({ file_id: id }, 'The bytes of a file are gone from DATA_DIR/uploads.');
    throw new AppError('not_found', { detail: 'The bytes of that file are gone from the server.' });
  }
  return {
    filename,
    contentType: meta.content_type,
    size: meta.size,
    hash,
    isInline: INLINE.has(meta.content_type),
    open: (range) => scope.files.read(id, range),
  };
}
