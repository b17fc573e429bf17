import type { Readable } from 'node:stream';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { getFile } from './files.service.ts';
import type { ByteRange } from './store/bytes.ts';

/** Types that a browser may show in this origin: pictures without script. Other types are downloaded. */
const INLINE = new Set(['image/png', 'image/apng', 'image/jpeg', 'image/gif', 'image/webp']);

export interface FileContent {
  filename: string;
  contentType: string;
  size: number;
  /** SHA-256, hex. The content of an id never changes. */
  hash: string;
  isInline: boolean;
  /** The bytes of a range; all bytes by default. @throws not_found if the bytes are gone, unavailable */
  open(range?: ByteRange): Promise<Readable>;
  /** @throws not_found if the bytes are gone, unavailable */
  require(): Promise<void>;
  /** A signed address of the same bytes, where the operator has chosen that. @param disposition a header, which the address pins */
  link?: (disposition: string) => Promise<string>;
}

/** The content of a file, for its readers. @throws not_found */
export async function getContent(scope: Scope, id: string): Promise<FileContent> {
  const { filename, hash, meta } = await getFile(scope, id);
  const { files } = scope;
  const { link } = files;
  const isInline = INLINE.has(meta.content_type);
  const gone = () => {
    scope.log.error({ file_id: id }, 'The bytes of a file are gone from the store.');
    return new AppError('not_found', { detail: 'The bytes of that file are gone from the server.' });
  };
  return {
    filename,
    contentType: meta.content_type,
    size: meta.size,
    hash,
    isInline,
    async open(range) {
      const bytes = await files.open(id, range);
      if (!bytes) throw gone();
      return bytes;
    },
    async require() {
      if (!(await files.has(id))) throw gone();
    },
    ...(link && {
      // The bucket sends no `nosniff`, so only types that are shown keep their name.
      link: (disposition) =>
        link(id, { contentType: isInline ? meta.content_type : 'application/octet-stream', disposition }),
    }),
  };
}
