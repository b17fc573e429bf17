import { join } from 'node:path';
import type { BucketAddress } from '../../env/files.ts';
import type { Env } from '../../env.ts';
import type { ByteStore } from './bytes.ts';
import { openFolder } from './folder.ts';

/** The folder of uploads of a data folder. */
export const uploadsOf = ({ DATA_DIR }: Pick<Env, 'DATA_DIR'>): string => join(DATA_DIR, 'uploads');

/** The bucket of `FILES_URL`, or the folder of uploads. The SDK takes time and memory, so it is loaded only for a bucket. */
export async function openBytes(env: Pick<Env, 'DATA_DIR' | 'FILES_URL'>): Promise<ByteStore> {
  return env.FILES_URL ? openBucketAt(env.FILES_URL) : openFolder(uploadsOf(env));
}

export async function openBucketAt(address: BucketAddress): Promise<ByteStore> {
  const { openBucket } = await import('./bucket.ts');
  return openBucket(address);
}
