import { rename, rm } from 'node:fs/promises';
import type { BucketAddress } from '../env/files.ts';
import { type Env, StartError } from '../env.ts';
import type { ByteStore } from '../files/store/bytes.ts';
import { openFolder } from '../files/store/folder.ts';
import { openBucketAt, uploadsOf } from '../files/store/open.ts';

/** Where a restore puts the uploads. */
export interface Target {
  store: ByteStore;
  /** After the database. @param hasFiles without them, the uploads stay as they are */
  finish(installation: string, hasFiles: boolean): Promise<void>;
  close(): Promise<void>;
}

/** @throws StartError for a bucket that is in use, unless it may be replaced */
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

/** Bytes of the same id are the same, so they may be put in place at once. Others there are removed by the sweep of the server. */
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
