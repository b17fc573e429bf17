import { userInfo } from 'node:os';

/** A failure that an operator must cure. The message is one line: the fault and the cure. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
}

/** Converts the error that stopped the start to one line for the operator; the original is the `cause`. */
export function explain(error: unknown, dataDir: string): EmbeddedDatabaseError {
  if (error instanceof EmbeddedDatabaseError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new EmbeddedDatabaseError(wording(code, message, dataDir), { cause: error });
}

export const isDiskFull = (line: string): boolean =>
  /No space left on device|Disk quota exceeded|Check free disk space/.test(line);

function wording(code: string, message: string, dataDir: string): string {
  if (['ENOSPC', 'EDQUOT'].includes(code) || isDiskFull(message)) {
    return `The disk under the data folder ${dataDir} is full: free some space, or move the folder and set DATA_DIR.`;
  }
  // Node reports ENOENT when it cannot make a folder on a read-only file system.
  const isNotMade = code === 'ENOENT' && message.includes('mkdir');
  if (
    isNotMade ||
    ['EACCES', 'EPERM', 'EROFS'].includes(code) ||
    /Permission denied|Read-only file system/.test(message)
  ) {
    const user = process.getuid?.() ?? userInfo().username;
    return `The data folder ${dataDir} cannot be used (${message}): make it writable for user ${user}, or set DATA_DIR to another folder.`;
  }
  if (code === 'ENOTEMPTY') {
    return `The folder postgres in the data folder ${dataDir} is not empty and holds no cluster: move it away.`;
  }
  if (['ENOTDIR', 'EEXIST'].includes(code)) {
    return `The data folder ${dataDir} is not a folder: move that file away, or set DATA_DIR to another folder.`;
  }
  if (/could not look up effective user ID/.test(message)) {
    return `PostgreSQL needs a name for the user of the server (${message}): add the user to /etc/passwd, or set DATABASE_URL.`;
  }
  return `The embedded PostgreSQL in ${dataDir} does not start (${message}): mend that, restore the folder from a backup, or set DATABASE_URL.`;
}
