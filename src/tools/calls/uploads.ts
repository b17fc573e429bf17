import { PassThrough } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { FileView } from '../../files/files.schema.ts';
import { type FormPart, uploadFile } from '../../files/files.upload.ts';

interface Upload {
  bytes: PassThrough;
  /** Settles when all bytes have come, or something about them is wrong. */
  stored: Promise<FileView>;
}

/** What a tool hands over of a file at once. */
export interface UploadPart {
  data: Buffer;
  is_last: boolean;
}

/** The uploads of one call of a tool, whose bytes come in parts. */
export interface Uploads {
  /** Takes the first part: the number for further ones, or the file when there are none. @throws as `uploadFile` */
  begin(scope: Scope, input: UploadPart & { filename: string; metadata: object }): Promise<number | FileView>;
  /** Takes another one, and answers as `begin`. @throws as `uploadFile`, and not_found for an upload that is none (any more) */
  add(input: UploadPart & { upload: number }): Promise<number | FileView>;
  /** Gives up what has not come to its end: half a file is none. */
  close(): void;
}

export function openUploads(): Uploads {
  const underWay = new Map<number, Upload>();
  let last = 0;

  async function add(number: number, { data, is_last }: UploadPart): Promise<number | FileView> {
    const upload = underWay.get(number);
    if (!upload) throw new AppError('not_found', { detail: 'There is no such upload under way.' });
    const { bytes, stored } = upload;
    if (is_last) {
      underWay.delete(number);
      bytes.end(data);
      return stored;
    }
    // No sooner than the disk takes them. What is wrong is said of the part with which it turns out.
    const written = new Promise<void>((resolve) => bytes.write(data, () => resolve()));
    await Promise.race([stored, written]);
    if (bytes.destroyed) await stored;
    return number;
  }

  return {
    begin(scope, { filename, metadata, ...part }) {
      const bytes = new PassThrough();
      const stored = uploadFile(scope, form(filename, metadata, bytes));
      // Whoever hands over the next part hears of it.
      stored.catch(() => bytes.destroy());
      bytes.on('error', () => {});
      last += 1;
      underWay.set(last, { bytes, stored });
      return add(last, part);
    },
    add: ({ upload, ...part }) => add(upload, part),
    close() {
      for (const { bytes } of underWay.values()) bytes.destroy(new Error('The call of the tool is over.'));
      underWay.clear();
    },
  };
}

async function* form(
  filename: string,
  metadata: object,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<FormPart> {
  yield { kind: 'field', name: 'metadata', value: metadata };
  yield { kind: 'file', name: 'file', filename, bytes };
}
