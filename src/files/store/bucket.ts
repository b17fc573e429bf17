import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { BucketAddress } from '../../env/files.ts';
import { faultIn, isMissing, unavailable } from './bucket.errors.ts';
import { openUploads, patient } from './bucket.streams.ts';
import { type ByteStore, FILE_NAME, type RemoteStore, type StoredBytes } from './bytes.ts';

/** A part of a multipart upload is in memory, twice at most for each upload. 10,000 parts are 48 GiB. */
const PART_BYTES = 5 * 1024 * 1024;
const CONNECT_MS = 3_000;
/** For a part of an upload. */
const PART_MS = 60_000;
/** For the beginning of an answer to every other request. */
const ANSWER_MS = 10_000;
const OWNER_MS = 5_000;
/** A slow download holds one, so there must be enough for all of them. */
const MAX_SOCKETS = 1_000;
/** The start of a download must follow within this time. */
const LINK_SECONDS = 60;

const brief = { requestTimeout: ANSWER_MS };

/**
 * Keeps bytes in a bucket of an S3 server. Keys are made from ids alone. Credentials come from the SDK's own chain: variables,
 * files, the identity of a pod or machine.
 */
export function openBucket(address: BucketAddress): ByteStore {
  const { bucket: Bucket, prefix, endpoint } = address;
  const client = connect(address);
  const root = `${prefix}uploads/`;
  const at = (id: string) => ({ Bucket, Key: root + id });

  return {
    name: `s3://${Bucket}/${prefix}${endpoint ? ` at ${endpoint}` : ''}`,
    put: (id, bytes) => put(client, at(id), bytes),
    async open(id, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const found = await client.send(new GetObjectCommand({ ...at(id), Range }), brief).catch(orMissing);
      return found && patient(found.Body as Readable);
    },
    has: async (id) =>
      (await client.send(new HeadObjectCommand(at(id)), brief).catch(orMissing)) !== undefined,
    async remove(id) {
      await client.send(new DeleteObjectCommand(at(id)), brief).catch(orMissing);
    },
    list: () => list(client, Bucket, root),
    async removeUnfinished(before) {
      for await (const { Key, UploadId, Initiated } of openUploads(client, { Bucket, Prefix: root })) {
        if ((Initiated?.getTime() ?? Number.POSITIVE_INFINITY) >= before) continue;
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), brief).catch(orMissing);
      }
    },
    remote: openRemote(client, address, at),
    close: () => client.destroy(),
  };
}

function connect({ endpoint, region, isPathStyle }: BucketAddress): S3Client {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return new S3Client({
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    forcePathStyle: isPathStyle,
    maxAttempts: 2,
    // Ranges and files of several parts have no checksum that could be compared; uploads are checked.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: PART_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/** In one request, or in parts which are removed when the upload fails. Nothing is visible before the end. */
async function put(
  client: S3Client,
  at: { Bucket: string; Key: string },
  bytes: AsyncIterable<Buffer>,
): Promise<void> {
  let failure: { error: unknown } | undefined;
  async function* source() {
    try {
      yield* bytes;
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  const Body = Readable.from(source(), { objectMode: false });
  const upload = new Upload({ client, params: { ...at, Body }, partSize: PART_BYTES, queueSize: 1 });
  try {
    await upload.done();
  } catch (error) {
    // The stream's own error says what the caller did wrong.
    throw failure ? failure.error : unavailable(error);
  } finally {
    Body.destroy();
  }
}

async function* list(client: S3Client, Bucket: string, root: string): AsyncGenerator<StoredBytes> {
  const pages = paginateListObjectsV2({ client }, { Bucket, Prefix: root }, brief);
  try {
    for await (const { Contents = [] } of pages) {
      for (const { Key = '', Size = 0, LastModified } of Contents) {
        const id = Key.slice(root.length);
        if (FILE_NAME.test(id)) yield { id, size: Size, storedAt: LastModified?.getTime() ?? Date.now() };
      }
    }
  } catch (error) {
    throw unavailable(error);
  }
}

function openRemote(
  client: S3Client,
  { bucket: Bucket, prefix, isPresigned }: BucketAddress,
  at: (id: string) => { Bucket: string; Key: string },
): RemoteStore {
  const mark = { Bucket, Key: `${prefix}parley-installation` };
  return {
    async readOwner() {
      const timeout = { requestTimeout: OWNER_MS };
      const found = await client.send(new GetObjectCommand(mark), timeout).catch(orMissing);
      return found?.Body?.transformToString();
    },
    async setOwner(installation) {
      const put = new PutObjectCommand({ ...mark, Body: installation, ContentType: 'text/plain' });
      await client.send(put, brief).catch(refuse);
    },
    faultIn,
    ...(isPresigned && {
      link: (id, { contentType, disposition }) => {
        const answer = { ResponseContentType: contentType, ResponseContentDisposition: disposition };
        const get = new GetObjectCommand({ ...at(id), ...answer });
        return getSignedUrl(client, get, { expiresIn: LINK_SECONDS }).catch(refuse);
      },
    }),
  };
}

function refuse(error: unknown): never {
  throw unavailable(error);
}

function orMissing(error: unknown): undefined {
  if (!isMissing(error)) throw unavailable(error);
}
