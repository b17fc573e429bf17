import { StartError } from '../../env.ts';
import type { ByteStore } from './bytes.ts';

/**
 * Marks a bucket as the place of this installation. The sweep removes bytes without a row, so two installations in one place would
 * remove the files of each other. A folder has no mark.
 *
 * @throws StartError when it belongs to another installation or cannot be used; `unavailable` during an outage
 */
export async function claim({ name, remote }: ByteStore, installation: string): Promise<void> {
  if (!remote) return;
  try {
    const owner = await remote.readOwner();
    if (owner === undefined) await remote.setOwner(installation);
    else if (owner !== installation) {
      throw new StartError(
        `The files in ${name} belong to another installation. Give this one another bucket or prefix; if the other one is gone, remove the object parley-installation there.`,
      );
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    const fault = remote.faultIn(error);
    if (fault === undefined) throw error;
    throw new StartError(`The bucket ${name} cannot be used: ${fault}.`, { cause: error });
  }
}
