import { rename, rm } from 'node:fs/promises';
import type { BucketAddress } from '../env/files.ts';
import { type Env, StartError } from '../env.ts';
import type { ByteStore } from '../files/store/bytes.ts';
import { openFolder } from '../files/store/folder.ts';
import { openBucketAt, uploadsOf } from '../files/store/open.ts';

/** Where a restore puts the uploads. */
export interface Target {
  store: ByteStore;
  /** Called after the database is restored. @param hasFiles when false, the uploads stay as they are */
  finish(installation: string, hasFiles: boolean): Promise<void>;
  close(): Promise<void>;
}

/** @throws StartError for a bucket that an installation uses, unless it may be replaced */
export const openTarget = (env: Env, replace: boolean): Promise<Target> =>
  env.FILES_URL ? bucketTarget(env.FILES_URL, replace) : folderTarget(uploadsOf(env));

/** Replaces the folder as a whole, at the end. */
async function folderTarget(uploads: string): Promise<Target> {
  const draft = `${uploads}.restored`;
  await rm(draft, { recursive: true, force: true });
  return {
    store: await openFolder(draft),
    async finish(_installation, hasFiles) {
      if (!hasFiles) return;
      await rm(uploads, { recursive: true, force: true });
      await rename(draft, uploads);
    },
    close: () => rm(draft, { recursive: true, force: true }),
  };
}

/** The bytes of an id never change, so they are put in place at once. The sweep of the server removes other bytes in the bucket. */
async function bucketTarget(address: BucketAddress, replace: boolean): Promise<Target> {
  const store = await openBucketAt(address);
  const { name, remote } = store;
  const owner = await remote?.readOwner().catch((cause: Error) => {
    throw new StartError(`The bucket ${name} cannot be used: ${remote.faultIn(cause) ?? cause.message}.`, {
      cause,
    });
  });
  if (owner !== undefined && !replace) {
    throw new StartError(
      `The bucket ${name} holds the files of an installation. Set FILES_URL to another place, or add --replace to take this one over.`,
    );
  }
  return {
    store,
    finish: async (installation) => remote?.setOwner(installation),
    close: async () => store.close(),
  };
}
