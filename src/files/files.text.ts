import { text } from 'node:stream/consumers';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { FileDetail, FileView } from './files.schema.ts';
import { getFile } from './files.service.ts';

/** The longest text that is answered as JSON; longer files are downloaded. */
const MAX_TEXT_BYTES = 1024 * 1024;

const isText = ({ meta }: FileView) => /^(text\/|application\/xml)/.test(meta.content_type);

/** @returns undefined for what is no text, too long, or gone from the disk */
async function readText(scope: Scope, file: FileView): Promise<string | undefined> {
  if (!isText(file) || file.meta.size > MAX_TEXT_BYTES) return undefined;
  if (file.meta.size === 0) return '';
  return (await scope.files.has(file.id)) ? text(scope.files.read(file.id)) : undefined;
}

/** A file with its text, when it is a text file. @throws not_found */
export async function getFileDetail(scope: Scope, id: string): Promise<FileDetail> {
  const file = await getFile(scope, id);
  const content = await readText(scope, file);
  return { ...file, data: { ...file.data, ...(content !== undefined && { content }) } };
}

/** The text of a file; empty for what is no text. @throws not_found, bad_request when it is too long */
export async function getText(scope: Scope, id: string): Promise<{ content: string }> {
  const file = await getFile(scope, id);
  if (isText(file) && file.meta.size > MAX_TEXT_BYTES) {
    throw new AppError('bad_request', {
      detail: `The file has more than ${MAX_TEXT_BYTES} bytes. Download its content instead.`,
    });
  }
  return { content: (await readText(scope, file)) ?? '' };
}
