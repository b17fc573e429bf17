import { text } from 'node:stream/consumers';
import { record } from '../audit/audit.record.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { transaction } from '../database/transaction.ts';
import { editFileText, readEditedText, readOwner } from './files.repository.ts';
import type { FileDetail, FileView } from './files.schema.ts';
import { getFile } from './files.service.ts';

/** The longest text accepted and returned as JSON; longer files are downloaded. */
export const MAX_TEXT_BYTES = 1024 * 1024;

const isText = ({ meta }: FileView) => /^(text\/|application\/xml)/.test(meta.content_type);

/** @returns undefined if the file is not text, too long, or its bytes are gone @throws unavailable */
async function readText(scope: Scope, file: FileView): Promise<string | undefined> {
  const edited = await readEditedText(scope.sql, file.id);
  if (edited !== null) return edited;
  if (!isText(file) || file.meta.size > MAX_TEXT_BYTES) return undefined;
  if (file.meta.size === 0) return '';
  const bytes = await scope.files.open(file.id);
  return bytes && text(bytes);
}

/** A file with its text, if it is a text file. @throws not_found */
export async function getFileDetail(scope: Scope, id: string): Promise<FileDetail> {
  const file = await getFile(scope, id);
  const content = await readText(scope, file);
  return { ...file, data: { ...file.data, ...(content !== undefined && { content }) } };
}

/** The text of a file; empty if it is not text. @throws not_found, bad_request if it is too long */
export async function getText(scope: Scope, id: string): Promise<{ content: string }> {
  const file = await getFile(scope, id);
  const content = await readText(scope, file);
  if (content === undefined && isText(file) && file.meta.size > MAX_TEXT_BYTES) {
    throw new AppError('bad_request', {
      detail: `The file has more than ${MAX_TEXT_BYTES} bytes. Download its content instead.`,
    });
  }
  return { content: content ?? '' };
}

/**
 * Replaces the text of a file by an edited one, for its owner and for administrators. The bytes do not
 * change.
 *
 * @throws not_found, quota_exceeded, and forbidden if the caller may only read it
 */
export async function updateText(scope: Scope, fileId: string, text: string): Promise<{ content: string }> {
  // The text counts as the owner's. Only administrators may edit files of others.
  const owner = scope.actor.role === 'admin' ? await readOwner(scope.sql, fileId) : scope.actor.id;
  if (owner !== undefined) await scope.quotas.store(owner, Buffer.byteLength(text));
  const edited = await transaction(scope, async (tx) => {
    const row = await editFileText(tx, scope.actor, { fileId, text, at: nowSeconds() });
    if (row && row.user_id !== scope.actor.id) {
      const { filename } = row;
      await record(scope, tx, {
        action: 'file.edit',
        target: { type: 'file', id: fileId },
        after: { filename },
      });
    }
    return row;
  });
  if (edited) return { content: text };
  await getFile(scope, fileId);
  throw new AppError('forbidden');
}
