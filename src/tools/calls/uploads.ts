import { PassThrough } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { FileView } from '../../files/files.schema.ts';
import { type FormPart, uploadFile } from '../../files/files.upload.ts';

interface Upload {
  bytes: PassThrough;
  /** Settles when all bytes have arrived or the upload has failed. */
  stored: Promise<FileView>;
}

/** One part of a file that a tool uploads. */
export interface UploadPart {
  data: Buffer;
  is_last: boolean;
}

/** The uploads of one call of a tool; their bytes arrive in parts. */
export interface Uploads {
  /**
   * Takes the first part. Returns the number for further parts, or the file when the upload is complete.
   * @throws as `uploadFile`, and bad_request after `close`
   */
  begin(scope: Scope, input: UploadPart & { filename: string; metadata: object }): Promise<number | FileView>;
  /**
   * Takes a further part and returns as `begin`. @throws as `uploadFile`, and not_found when the upload does
   * not exist
   */
  add(input: UploadPart & { upload: number }): Promise<number | FileView>;
  /** Drops incomplete uploads. No upload can begin afterwards. */
  close(): void;
}

const OVER = 'The call of the tool is over.';

/** @param onStored called with each complete upload */
export function openUploads(onStored?: (file: FileView) => void): Uploads {
  const underWay = new Map<number, Upload>();
  let last = 0;
  let isClosed = false;

  async function add(number: number, { data, is_last }: UploadPart): Promise<number | FileView> {
    const upload = underWay.get(number);
    if (!upload) throw new AppError('not_found', { detail: 'There is no such upload under way.' });
    const { bytes, stored } = upload;
    if (is_last) {
      underWay.delete(number);
      bytes.end(data);
      const file = await stored;
      onStored?.(file);
      return file;
    }
    // Resolves when the disk has taken the bytes. A failure is reported for the part at which it occurs.
    const written = new Promise<void>((resolve) => bytes.write(data, () => resolve()));
    await Promise.race([stored, written]);
    if (bytes.destroyed) await stored;
    return number;
  }

  return {
    async begin(scope, { filename, metadata, ...part }) {
      // The call may have ended while the rights of its caller were checked.
      if (isClosed) throw new AppError('bad_request', { detail: OVER });
      const bytes = new PassThrough();
      const stored = uploadFile(scope, form(filename, metadata, bytes));
      // The call for the next part reports the failure.
      stored.catch(() => bytes.destroy());
      bytes.on('error', () => {});
      last += 1;
      underWay.set(last, { bytes, stored });
      return add(last, part);
    },
    add: ({ upload, ...part }) => add(upload, part),
    close() {
      isClosed = true;
      for (const { bytes } of underWay.values()) bytes.destroy(new AppError('bad_request', { detail: OVER }));
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
