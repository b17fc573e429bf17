import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import {
  CAN_READ_FILE,
  CAN_WRITE_FILE,
  type Reader,
  type ReaderParams,
  readerParams,
} from './files.policy.ts';
import type { FilePage, FileView } from './files.schema.ts';

const VIEW = `json_build_object('id', f.id, 'user_id', f.user_id, 'hash', f.sha256, 'filename', f.filename,
  'data', json_build_object('status', 'completed'),
  'meta', json_build_object('name', f.filename, 'content_type', f.content_type, 'size', f.size, 'data', f.meta),
  'created_at', f.created_at, 'updated_at', f.updated_at)`;

const READABLE = statement<{ id: string }, ReaderParams & { among: string[] }>(
  'file.readable',
  `select f.id from file f where f.id = any(:among::uuid[]) and ${CAN_READ_FILE}`,
);

/** The given files that the caller may read. */
export async function listReadableFiles(sql: Sql, reader: Reader, among: string[]): Promise<string[]> {
  const rows = await sql.rows(READABLE, { ...readerParams(reader), among });
  return rows.map(({ id }) => id);
}

const LIST = statement<{ view: FileView }, { userId: string; limit: number; skip: number }>(
  'file.list_own',
  `select ${VIEW} as view from file f where f.user_id = :userId order by f.id desc limit :limit offset :skip`,
);

/** A user's own files, newest first: ids of version 7 are in order of time. */
export async function listOwnFiles(
  sql: Sql,
  userId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FileView[]> {
  const rows = await sql.rows(LIST, { userId, limit, skip });
  return rows.map(({ view }) => view);
}

const PAGE = statement<FilePage, { userId: string; limit: number; skip: number }>(
  'file.page_own',
  `select (select count(*)::int from file f where f.user_id = :userId) as total, coalesce((
     select json_agg(view) from (
       select ${VIEW} as view from file f where f.user_id = :userId order by f.id desc limit :limit offset :skip) as newest),
     '[]'::json) as items`,
);

/** The same page, with the total count. */
export async function pageOwnFiles(
  sql: Sql,
  userId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FilePage> {
  const [row] = await sql.rows(PAGE, { userId, limit, skip });
  return row ?? { items: [], total: 0 };
}

const SEARCH = statement<
  { view: FileView },
  { userId: string; pattern: string; limit: number; skip: number }
>(
  'file.search_own',
  `select ${VIEW} as view from file f where f.user_id = :userId and f.filename ilike :pattern
    order by f.id desc limit :limit offset :skip`,
);

/** A user's own files whose name matches a `like` pattern, in any case, newest first. */
export async function searchOwnFiles(
  sql: Sql,
  userId: string,
  { pattern, skip, limit }: { pattern: string; skip: number; limit: number },
): Promise<FileView[]> {
  const rows = await sql.rows(SEARCH, { userId, pattern, limit, skip });
  return rows.map(({ view }) => view);
}

const COUNT = statement<{ total: number }, { userId: string }>(
  'file.count_own',
  'select count(*)::int as total from file f where f.user_id = :userId',
);

export async function countOwnFiles(sql: Sql, userId: string): Promise<number> {
  const [row] = await sql.rows(COUNT, { userId });
  return row?.total ?? 0;
}

const GET = statement<{ view: FileView }, ReaderParams & { fileId: string }>(
  'file.get',
  `select ${VIEW} as view from file f where f.id = :fileId and ${CAN_READ_FILE}`,
);

/** The file, if it exists and the caller may read it. */
export async function readFile(sql: Sql, reader: Reader, fileId: string): Promise<FileView | undefined> {
  const [row] = await sql.rows(GET, { ...readerParams(reader), fileId });
  return row?.view;
}

export interface NewFile {
  id: string;
  user_id: string;
  filename: string;
  content_type: string;
  size: number;
  /** Hex. */
  sha256: string;
  meta: Record<string, unknown>;
  /** Seconds. */
  at: number;
}

const INSERT = statement<
  { view: FileView },
  {
    id: string;
    user_id: string;
    filename: string;
    content_type: string;
    size: number;
    sha256: string;
    meta: string;
    at: number;
  }
>(
  'file.insert',
  `with f as (
     insert into file (id, user_id, filename, content_type, size, sha256, meta, created_at, updated_at)
     select :id, u.id, :filename, :content_type, :size, :sha256, :meta::jsonb, :at::int, :at::int from users u where u.id = :user_id
     returning *
   )
   select ${VIEW} as view from f`,
);

/** Stores the row of an upload; undefined if the account was deleted. */
export async function insertFile(sql: Sql, file: NewFile): Promise<FileView | undefined> {
  const { id, user_id, filename, content_type, size, sha256, meta, at } = file;
  const [row] = await sql.rows(INSERT, {
    id,
    user_id,
    filename,
    content_type,
    size,
    sha256,
    meta: JSON.stringify(meta),
    at,
  });
  return row?.view;
}

interface DeletedFile {
  filename: string;
  user_id: string;
}
const DELETE = statement<DeletedFile, CallerParams & { fileId: string }>(
  'file.delete',
  `delete from file f where f.id = :fileId and ${CAN_WRITE_FILE} returning f.filename, f.user_id`,
);

/**
 * Deletes the row of a file, for its owner and for administrators. @returns the deleted file; undefined if it
 * does not exist or the caller has no right to delete it
 */
export async function deleteFileRow(
  sql: Sql,
  caller: Caller,
  fileId: string,
): Promise<DeletedFile | undefined> {
  const [row] = await sql.rows(DELETE, { ...callerOf(caller), fileId });
  return row;
}

const RENAME = statement<
  DeletedFile & { view: FileView },
  CallerParams & { fileId: string; filename: string; at: number }
>(
  'file.rename',
  `with before as (select f.id, f.filename, f.user_id from file f where f.id = :fileId and ${CAN_WRITE_FILE} for update),
     f as (update file set filename = :filename, updated_at = :at from before where file.id = before.id returning file.*)
   select before.filename, before.user_id, ${VIEW} as view from f join before on true`,
);

/**
 * Renames a file, for its owner and for administrators. @returns the file and its former name; undefined as
 * for `deleteFileRow`
 */
export async function renameFileRow(
  sql: Sql,
  caller: Caller,
  { fileId, filename, at }: { fileId: string; filename: string; at: number },
): Promise<(DeletedFile & { view: FileView }) | undefined> {
  const [row] = await sql.rows(RENAME, { ...callerOf(caller), fileId, filename, at });
  return row;
}

const EDITED = statement<{ edited_text: string | null }, { fileId: string }>(
  'file.edited_text',
  'select edited_text from file where id = :fileId',
);

/** The edited text that replaces the text of the bytes; null if there is none. */
export async function readEditedText(sql: Sql, fileId: string): Promise<string | null> {
  const [row] = await sql.rows(EDITED, { fileId });
  return row?.edited_text ?? null;
}

const EDIT = statement<DeletedFile, CallerParams & { fileId: string; text: string; at: number }>(
  'file.edit_text',
  `update file f set edited_text = :text, updated_at = :at where f.id = :fileId and ${CAN_WRITE_FILE}
     returning f.filename, f.user_id`,
);

/**
 * Stores the text of a file, for its owner and for administrators. @returns undefined as for `deleteFileRow`
 */
export async function editFileText(
  sql: Sql,
  caller: Caller,
  { fileId, text, at }: { fileId: string; text: string; at: number },
): Promise<DeletedFile | undefined> {
  const [row] = await sql.rows(EDIT, { ...callerOf(caller), fileId, text, at });
  return row;
}

const DELETE_ALL = statement<{ id: string }>('file.delete_all', 'delete from file returning id');

/** @returns the ids of the deleted files */
export async function deleteAllRows(sql: Sql): Promise<string[]> {
  const rows = await sql.rows(DELETE_ALL);
  return rows.map(({ id }) => id);
}

const KNOWN = statement<{ id: string }, { among: string[] }>(
  'file.known',
  'select id from file where id = any(:among::uuid[])',
);

/** The given ids that have a row; for the sweep of bytes without a row. */
export async function listKnownFiles(sql: Sql, among: string[]): Promise<Set<string>> {
  const rows = await sql.rows(KNOWN, { among });
  return new Set(rows.map(({ id }) => id));
}
