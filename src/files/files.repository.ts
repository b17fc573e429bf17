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

interface FileRow {
  id: string;
  user_id: string;
  sha256: string;
  filename: string;
  content_type: string;
  size: number;
  meta: Record<string, unknown>;
  created_at: number;
  updated_at: number;
}

/** SQL for the columns of a `FileRow`, from a row called `f`. */
const COLUMNS = `f.id, f.user_id, f.sha256, f.filename, f.content_type, f.size::float8 as size, f.meta,
  f.created_at, f.updated_at`;

const viewOf = ({ sha256, content_type, size, meta, ...file }: FileRow): FileView => ({
  id: file.id,
  user_id: file.user_id,
  hash: sha256,
  filename: file.filename,
  meta: { name: file.filename, content_type, size, data: meta },
  data: { status: 'completed' },
  created_at: file.created_at,
  updated_at: file.updated_at,
});

const READABLE = statement<{ id: string }, ReaderParams & { among: string[] }>(
  'file.readable',
  `select f.id from file f where f.id = any(:among::uuid[]) and ${CAN_READ_FILE}`,
);

/** The given files that the caller may read. */
export async function listReadableFiles(sql: Sql, reader: Reader, among: string[]): Promise<string[]> {
  const rows = await sql.rows(READABLE, { ...readerParams(reader), among });
  return rows.map(({ id }) => id);
}

export interface FileWithText extends Pick<FileRow, 'id' | 'filename' | 'content_type' | 'size'> {
  /** The edited text that replaces the text of the bytes. */
  edited_text: string | null;
}

const WITH_TEXT = statement<FileWithText, ReaderParams & { among: string[]; characters: number }>(
  'file.with_text',
  `select f.id, f.filename, f.content_type, f.size::float8 as size, left(f.edited_text, :characters::int) as edited_text
     from file f where f.id = any(:among::uuid[]) and ${CAN_READ_FILE}`,
);

/** The given files that the caller may read, with the beginnings of their edited texts. */
export const readFilesWithText = (
  sql: Sql,
  reader: Reader,
  among: string[],
  characters: number,
): Promise<FileWithText[]> => sql.rows(WITH_TEXT, { ...readerParams(reader), among, characters });

const LIST = statement<FileRow, { userId: string; limit: number; skip: number }>(
  'file.list_own',
  `select ${COLUMNS} from file f where f.user_id = :userId order by f.id desc limit :limit offset :skip`,
);

/** A user's own files, newest first: ids of version 7 are in order of time. */
export async function listOwnFiles(
  sql: Sql,
  userId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FileView[]> {
  const rows = await sql.rows(LIST, { userId, limit, skip });
  return rows.map(viewOf);
}

/** The id is null in the one row of an empty page. */
type PageRow = { total: number } & (FileRow | { id: null });

const PAGE = statement<PageRow, { userId: string; limit: number; skip: number }>(
  'file.page_own',
  `select n.total, f.* from (select count(*)::int as total from file f where f.user_id = :userId) n left join lateral (
     select ${COLUMNS} from file f where f.user_id = :userId order by f.id desc limit :limit offset :skip) f on true
    order by f.id desc`,
);

/** The same page, with the total count. */
export async function pageOwnFiles(
  sql: Sql,
  userId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FilePage> {
  const rows = await sql.rows(PAGE, { userId, limit, skip });
  const files = rows.filter((row): row is FileRow & { total: number } => row.id !== null);
  return { items: files.map(viewOf), total: rows[0]?.total ?? 0 };
}

const SEARCH = statement<FileRow, { userId: string; pattern: string; limit: number; skip: number }>(
  'file.search_own',
  `select ${COLUMNS} from file f where f.user_id = :userId and f.filename ilike :pattern
    order by f.id desc limit :limit offset :skip`,
);

/** A user's own files whose name matches a `like` pattern, in any case, newest first. */
export async function searchOwnFiles(
  sql: Sql,
  userId: string,
  { pattern, skip, limit }: { pattern: string; skip: number; limit: number },
): Promise<FileView[]> {
  const rows = await sql.rows(SEARCH, { userId, pattern, limit, skip });
  return rows.map(viewOf);
}

const COUNT = statement<{ total: number }, { userId: string }>(
  'file.count_own',
  'select count(*)::int as total from file f where f.user_id = :userId',
);

export async function countOwnFiles(sql: Sql, userId: string): Promise<number> {
  const [row] = await sql.rows(COUNT, { userId });
  return row?.total ?? 0;
}

const GET = statement<FileRow, ReaderParams & { fileId: string }>(
  'file.get',
  `select ${COLUMNS} from file f where f.id = :fileId and ${CAN_READ_FILE}`,
);

/** The file, if it exists and the caller may read it. */
export async function readFile(sql: Sql, reader: Reader, fileId: string): Promise<FileView | undefined> {
  const [row] = await sql.rows(GET, { ...readerParams(reader), fileId });
  return row && viewOf(row);
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
  FileRow,
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
   select ${COLUMNS} from f`,
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
  return row && viewOf(row);
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
  FileRow & { old_name: string },
  CallerParams & { fileId: string; filename: string; at: number }
>(
  'file.rename',
  `with before as (select f.id, f.filename, f.user_id from file f where f.id = :fileId and ${CAN_WRITE_FILE} for update),
     f as (update file set filename = :filename, updated_at = :at from before where file.id = before.id returning file.*)
   select ${COLUMNS}, before.filename as old_name from f join before on true`,
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
  return row && { filename: row.old_name, user_id: row.user_id, view: viewOf(row) };
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

const OWNER = statement<{ user_id: string }, { fileId: string }>(
  'file.owner',
  'select user_id from file where id = :fileId',
);

/** The owner of a file; undefined if the file does not exist. */
export async function readOwner(sql: Sql, fileId: string): Promise<string | undefined> {
  const [row] = await sql.rows(OWNER, { fileId });
  return row?.user_id;
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
