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

/** Also what others get for a file that is there: who may not read it does not learn of it. */
const noSuchFile = () => new AppError('not_found', { detail: 'There is no such file.' });

/** The caller's own uploads, newest first. */
export const listFiles = (scope: Scope, page: { skip: number; limit: number }): Promise<FileView[]> =>
  listOwnFiles(scope.sql, scope.actor.id, page);

/** The same with how many there are. */
export const pageFiles = (scope: Scope, page: { skip: number; limit: number }): Promise<FilePage> =>
  pageOwnFiles(scope.sql, scope.actor.id, page);

interface Search {
  /** `*` stands for any characters, `?` for one. */
  filename: string;
  skip: number;
  limit: number;
}

/** The caller's own uploads whose whole name fits, in any case; newest first. */
export function searchFiles({ sql, actor }: Scope, { filename, ...page }: Search): Promise<FileView[]> {
  const literal = filename.replaceAll(/[\\%_]/g, '\\$&');
  const pattern = literal.replaceAll('*', '%').replaceAll('?', '_');
  return searchOwnFiles(sql, actor.id, { pattern, ...page });
}

export const countFiles = ({ sql, actor }: Scope): Promise<number> => countOwnFiles(sql, actor.id);

/** @throws not_found for what cannot be the id of a file */
export function knownId(sent: string): string {
  const { success, data } = id().safeParse(sent);
  if (!success) throw noSuchFile();
  return data;
}

/** A file: its owner, and whoever may read a message that carries it. @throws not_found */
export async function getFile(scope: Scope, id: string): Promise<FileView> {
  const file = await readFile(scope.sql, readerOf(scope), id);
  if (!file) throw noSuchFile();
  return file;
}

/**
 * Renames a file: its owner, and administrators. Its bytes and its id stay.
 *
 * @throws not_found, and forbidden for those who may only read it
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

/** Deletes all files of all people, with their bytes. */
export async function deleteAllFiles(scope: Scope): Promise<void> {
  const ids = await transaction(scope, async (tx) => {
    const deleted = await deleteAllRows(tx);
    await record(scope, tx, { action: 'file.delete_all', before: { count: deleted.length } });
    return deleted;
  });
  // What a crash leaves, the sweep of the store removes.
  for (const id of ids) await scope.files.remove(id);
}

/**
 * Deletes a file with its bytes: its owner, and administrators. Messages keep the item that named it, and what it led to is gone.
 *
 * @throws not_found, and forbidden for those who may only read it
 */
export async function deleteFile(scope: Scope, id: string): Promise<true> {
  const deleted = await transaction(scope, async (tx) => {
    const before = await deleteFileRow(tx, scope.actor, id);
    // Their own is nobody else's affair.
    if (before && before.user_id !== scope.actor.id) {
      await record(scope, tx, { action: 'file.delete', target: { type: 'file', id }, before });
    }
    return before;
  });
  if (!deleted) {
    await getFile(scope, id);
    throw new AppError('forbidden');
  }
  await scope.files.remove(id);
  return true;
}
