import { Readable } from 'node:stream';
import { ListMultipartUploadsCommand, type MultipartUpload, type S3Client } from '@aws-sdk/client-s3';
import { unavailable } from './bucket.errors.ts';

/** A store that hangs in the middle of a download. */
const STALL_MS = 30_000;

/** The same bytes; fails when the store sends nothing for a while. The time that a slow caller takes does not count. */
export function patient(body: Readable): Readable {
  async function* chunks() {
    const source = body[Symbol.asyncIterator]();
    for (;;) {
      const timer = setTimeout(() => body.destroy(new Error('The object store sends no more.')), STALL_MS);
      const { value, done } = await source
        .next()
        .catch((error: unknown) => {
          throw unavailable(error);
        })
        .finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  }
  // It may fail before it is read.
  body.on('error', () => {});
  const bytes = Readable.from(chunks(), { objectMode: false });
  // Ends the request also when nothing was read.
  return bytes.once('close', () => body.destroy());
}

/** The multipart uploads that were neither completed nor given up. */
export async function* openUploads(
  client: S3Client,
  where: { Bucket: string; Prefix: string },
): AsyncGenerator<MultipartUpload> {
  let next: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (next) {
    const page: Awaited<ReturnType<typeof ask>> = await ask(next);
    yield* page.Uploads ?? [];
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    next =
      IsTruncated && KeyMarker !== undefined
        ? { KeyMarker, ...(UploadIdMarker !== undefined && { UploadIdMarker }) }
        : undefined;
  }

  function ask(from: { KeyMarker?: string; UploadIdMarker?: string }) {
    return client.send(new ListMultipartUploadsCommand({ ...where, ...from })).catch((error: unknown) => {
      throw unavailable(error);
    });
  }
}
