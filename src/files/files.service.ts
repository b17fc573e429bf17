import { record } from '../audit/audit.record.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { id } from '../core/wire.ts';
import { transaction } from '../database/transaction.ts';
import { readerOf } from './files.access.ts';
import {
  countOwnFiles,
  deleteAllRows,
  deleteFileRow,
  listOwnFiles,
  pageOwnFiles,
  readFile,
  renameFileRow,
  searchOwnFiles,
} from './files.repository.ts';
import type { FilePage, FileView } from './files.schema.ts';

/**
 * Also the answer for a file that the caller may not read, so that the caller does not learn that it exists.
 */
const noSuchFile = () => new AppError('not_found', { detail: 'There is no such file.' });

/** The caller's own uploads, newest first. */
export const listFiles = (scope: Scope, page: { skip: number; limit: number }): Promise<FileView[]> =>
  listOwnFiles(scope.sql, scope.actor.id, page);

/** The same page, with the total count. */
export const pageFiles = (scope: Scope, page: { skip: number; limit: number }): Promise<FilePage> =>
  pageOwnFiles(scope.sql, scope.actor.id, page);

interface Search {
  /** `*` stands for any characters, `?` for one. */
  filename: string;
  skip: number;
  limit: number;
}

/** The caller's own uploads whose whole name matches, in any case; newest first. */
export function searchFiles({ sql, actor }: Scope, { filename, ...page }: Search): Promise<FileView[]> {
  const literal = filename.replaceAll(/[\\%_]/g, '\\$&');
  const pattern = literal.replaceAll('*', '%').replaceAll('?', '_');
  return searchOwnFiles(sql, actor.id, { pattern, ...page });
}

export const countFiles = ({ sql, actor }: Scope): Promise<number> => countOwnFiles(sql, actor.id);

/** @throws not_found if the text cannot be a file id */
export function knownId(sent: string): string {
  const { success, data } = id().safeParse(sent);
  if (!success) throw noSuchFile();
  return data;
}

/** A file, for its owner and for readers of a message that carries it. @throws not_found */
export async function getFile(scope: Scope, id: string): Promise<FileView> {
  const file = await readFile(scope.sql, readerOf(scope), id);
  if (!file) throw noSuchFile();
  return file;
}

/**
 * Renames a file, for its owner and for administrators. The bytes and the id do not change.
 *
 * @throws not_found, and forbidden if the caller may only read it
 */
export async function renameFile(scope: Scope, fileId: string, filename: string): Promise<FileView> {
  const renamed = await transaction(scope, async (tx) => {
    const row = await renameFileRow(tx, scope.actor, { fileId, filename, at: nowSeconds() });
    if (row && row.user_id !== scope.actor.id) {
      await record(scope, tx, {
        action: 'file.rename',
        target: { type: 'file', id: fileId },
        before: { filename: row.filename },
        after: { filename },
      });
    }
    return row;
  });
  if (renamed) return renamed.view;
  await getFile(scope, fileId);
  throw new AppError('forbidden');
}

/** Deletes all files of all users, with their bytes. */
export async function deleteAllFiles(scope: Scope): Promise<void> {
  const ids = await transaction(scope, async (tx) => {
    const deleted = await deleteAllRows(tx);
    await record(scope, tx, { action: 'file.delete_all', before: { count: deleted.length } });
    return deleted;
  });
  // The sweep of the store removes bytes that a crash leaves behind.
  await scope.files.remove(ids);
}

/**
 * Deletes a file with its bytes, for its owner and for administrators. Messages keep the item that named it,
 * but its link no longer works.
 *
 * @throws not_found, and forbidden if the caller may only read it
 */
export async function deleteFile(scope: Scope, id: string): Promise<true> {
  const deleted = await transaction(scope, async (tx) => {
    const before = await deleteFileRow(tx, scope.actor, id);
    // Deleting one's own file is not written to the audit log.
    if (before && before.user_id !== scope.actor.id) {
      await record(scope, tx, { action: 'file.delete', target: { type: 'file', id }, before });
    }
    return before;
  });
  if (!deleted) {
    await getFile(scope, id);
    throw new AppError('forbidden');
  }
  await scope.files.remove([id]);
  return true;
}
