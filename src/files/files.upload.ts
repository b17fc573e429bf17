import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { may } from '../configs/settings/permissions.ts';
import { AppError, invalid } from '../core/errors.ts';
import { describeIssues } from '../core/failure.ts';
import { limitAtOnce } from '../core/limits/limits.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { freeForm, LIMITS, name } from '../core/wire.ts';
import { insertFile } from './files.repository.ts';
import type { FileView } from './files.schema.ts';
import { MAX_UPLOAD_BYTES } from './files.terms.ts';
import { typeOf } from './files.type.ts';
import type { Received } from './store/files.store.ts';

/** One part of an upload form, in order of arrival. */
export type FormPart =
  | { kind: 'field'; name: string; value: unknown }
  | { kind: 'file'; name: string; filename: string; bytes: AsyncIterable<Buffer> };

/** The largest upload, in bytes. */
export const maxUploadBytes = ({ configs }: Pick<Scope, 'configs'>): number =>
  configs.current.files?.max_size ?? MAX_UPLOAD_BYTES;

/** Limits concurrent uploads of one user, because each holds a file or a part of it open. */
const enter = limitAtOnce(4, 'uploads');

const sentence = (max: number) => `The file is larger than ${max} bytes, the most that this server takes.`;
export const tooLarge = (max: number) => new AppError('too_large', { detail: sentence(max) });

const notLeft = (left: number) =>
  new AppError('quota_exceeded', { detail: `You may store ${left} more bytes. Delete something first.` });

/**
 * Stores one file with its `metadata`, a JSON object that is stored unchanged. The bytes are stored
 * before the row is written. A failed upload leaves neither.
 *
 * @throws forbidden without the permission `chat.file_upload`, rate_limited, validation, too_large,
 *   quota_exceeded, storage_full, unavailable
 */
export async function uploadFile(scope: Scope, form: AsyncIterable<FormPart>): Promise<FileView> {
  if (!may(scope, 'chat.file_upload')) throw new AppError('forbidden');
  const leave = enter(scope.actor.id);
  const id = uuidv7();
  try {
    const left = await scope.quotas.upload(scope.actor.id);
    const upload = await receiveForm(scope, id, form, left);
    await scope.quotas.store(scope.actor.id, upload.size);
    return await storeUpload(scope, id, upload);
  } catch (error) {
    await scope.files.remove([id]);
    throw error;
  } finally {
    leave();
  }
}

interface Upload extends Received {
  filename: string;
  metadata: Record<string, unknown>;
}

/** @param left how many more bytes the caller may store */
async function receiveForm(
  scope: Scope,
  id: string,
  form: AsyncIterable<FormPart>,
  left: number,
): Promise<Upload> {
  const most = maxUploadBytes(scope);
  const max = Math.min(most, left);
  const excess = () => (max < most ? notLeft(left) : tooLarge(most));
  let metadata: Record<string, unknown> = {};
  let file: (Received & { filename: string }) | undefined;
  for await (const part of form) {
    if (part.kind === 'field') {
      if (part.name === 'metadata') metadata = check(part.name, Metadata, part.value);
      if (part.name === 'file') throw invalid('file', 'must be a file, with a filename');
      continue;
    }
    if (part.name !== 'file') throw invalid(part.name, 'is unknown: the file goes into the field "file"');
    const filename = check('filename', Filename, part.filename);
    const received = await scope.files.receive(id, part.bytes, max, excess);
    file = { ...received, filename };
  }
  if (!file) throw invalid('file', 'is required: one part of the form, with a filename');
  return { ...file, metadata };
}

async function storeUpload(scope: Scope, id: string, upload: Upload): Promise<FileView> {
  const { filename, size, sha256, sample, metadata } = upload;
  const content_type = await typeOf(sample, size === sample.length);
  const view = await insertFile(scope.sql, {
    id,
    user_id: scope.actor.id,
    filename,
    content_type,
    size,
    sha256,
    meta: metadata,
    at: nowSeconds(),
  });
  // The account was deleted during the upload.
  if (!view) throw new AppError('unauthenticated');
  return view;
}

/**
 * Line separators, and characters that reverse the text direction: `report\u202Efdp.exe` reads as
 * `reportexe.pdf`.
 */
const TURNING = /[\u2028-\u202E\u2066-\u2069]/g;

/**
 * The last segment of the uploader's file name. It is a name, never a path. Browsers send a quote as `%22`.
 */
export const Filename = z
  .string()
  .transform((sent) => sent.split(/[/\\]/).at(-1)?.replaceAll('%22', '"').replaceAll(TURNING, '') ?? '')
  .pipe(name().regex(/^\P{Cc}*$/u, 'must not contain control characters'));

const Metadata = z
  .unknown()
  .transform((sent, context) => {
    if (typeof sent !== 'string') return sent;
    try {
      return JSON.parse(sent) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON object' });
      return z.NEVER;
    }
  })
  .pipe(freeForm(LIMITS.listedFormBytes));

/** Validates one part of a form. @throws validation naming the part */
export function check<T>(path: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(path, describeIssues(parsed.error)[0]?.message ?? 'is wrong');
}
