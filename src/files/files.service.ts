import { record } from '../audit/audit.record.ts';
import { AppError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Scope } from '../core/scope.ts';
import { readerOf } from './files.access.ts';
import { deleteFileRow, listOwnFiles, readFile } from './files.repository.ts';
import type { FileView } from './files.schema.ts';

/** Also what others get for a file that is there: who may not read it does not learn of it. */
const noSuchFile = () => new AppError('not_found', { detail: 'There is no such file.' });

/** The caller's own uploads, newest first. */
export const listFiles = (scope: Scope, page: { skip: number; limit: number }): Promise<Json<FileView[]>> =>
  listOwnFiles(scope.sql, scope.actor.id, page);

/** A file: its owner, and whoever may read a message that carries it. @throws not_found */
export async function getFile(scope: Scope, id: string): Promise<FileView> {
  const file = await readFile(scope.sql, readerOf(scope), id);
  if (!file) throw noSuchFile();
  return file;
}

/**
 * Deletes a file with its bytes: its owner, and administrators. Messages keep the item that named it, and what it led to is gone.
 *
 * @throws not_found, and forbidden for those who may only read it
 */
export async function deleteFile(scope: Scope, id: string): Promise<true> {
  const deleted = await scope.sql.transaction(async (sql) => {
    const before = await deleteFileRow(sql, scope.actor, id);
    // Their own is nobody else's affair.
    if (before && before.user_id !== scope.actor.id) {
      await record(scope, sql, { action: 'file.delete', target: { type: 'file', id }, before });
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
