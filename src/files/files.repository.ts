import { CAN_READ, type Caller } from '../channels/channels.repository.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { FilePage, FileView } from './files.schema.ts';

/**
 * Who asks, and whether they may use channels at all: where those are switched off, nobody reads through a message.
 */
export interface Reader extends Caller {
  usesChannels: boolean;
}

/** For statements whose `$1` is the caller's id, `$2` whether they are an administrator, `$3` whether they may use channels. */
const valuesOf = ({ id, role, usesChannels }: Reader) => [id, role === 'admin', usesChannels];

/**
 * SQL for a condition on a row `f`: it is the caller's own, or a message that they may read carries it. Being an administrator is no
 * right to the files of group and direct channels, as it is none to their messages.
 */
const CAN_READ_FILE = `(f.user_id = $1 or ($3 and exists (
  select from message_file mf
    join message m on m.channel_id = mf.channel_id and m.id = mf.message_id and m.deleted_at is null
    join channel c on c.id = mf.channel_id
   where mf.file_id = f.id and ${CAN_READ})))`;

const VIEW = `json_build_object('id', f.id, 'user_id', f.user_id, 'hash', f.sha256, 'filename', f.filename,
  'data', json_build_object('status', 'completed'),
  'meta', json_build_object('name', f.filename, 'content_type', f.content_type, 'size', f.size, 'data', f.meta),
  'created_at', f.created_at, 'updated_at', f.updated_at)`;

const READABLE = statement<{ id: string }>(
  'file.readable',
  `select f.id from file f where f.id = any($4::uuid[]) and ${CAN_READ_FILE}`,
);

/** Those of the given files that the caller may read. */
export async function listReadableFiles(sql: Sql, reader: Reader, among: string[]): Promise<string[]> {
  const rows = await sql.rows(READABLE, [...valuesOf(reader), among]);
  return rows.map(({ id }) => id);
}

const LIST = statement<{ view: FileView }>(
  'file.list_own',
  `select ${VIEW} as view from file f where f.user_id = $1 order by f.id desc limit $2 offset $3`,
);

/** A person's own files, newest first: ids of version 7 are in the order of time. */
export async function listOwnFiles(
  sql: Sql,
  userId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FileView[]> {
  const rows = await sql.rows(LIST, [userId, limit, skip]);
  return rows.map(({ view }) => view);
}

const PAGE = statement<FilePage>(
  'file.page_own',
  `select (select count(*)::int from file f where f.user_id = $1) as total, coalesce((
     select json_agg(view) from (
       select ${VIEW} as view from file f where f.user_id = $1 order by f.id desc limit $2 offset $3) as newest),
     '[]'::json) as items`,
);

/** The same with how many there are. */
export async function pageOwnFiles(
  sql: Sql,
  userId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FilePage> {
  const [row] = await sql.rows(PAGE, [userId, limit, skip]);
  return row ?? { items: [], total: 0 };
}

const SEARCH = statement<{ view: FileView }>(
  'file.search_own',
  `select ${VIEW} as view from file f where f.user_id = $1 and f.filename ilike $2
    order by f.id desc limit $3 offset $4`,
);

/** A person's own files whose name fits a pattern, as `like` takes it; in any case, newest first. */
export async function searchOwnFiles(
  sql: Sql,
  userId: string,
  { pattern, skip, limit }: { pattern: string; skip: number; limit: number },
): Promise<FileView[]> {
  const rows = await sql.rows(SEARCH, [userId, pattern, limit, skip]);
  return rows.map(({ view }) => view);
}

const COUNT = statement<{ total: number }>(
  'file.count_own',
  'select count(*)::int as total from file f where f.user_id = $1',
);

export async function countOwnFiles(sql: Sql, userId: string): Promise<number> {
  const [row] = await sql.rows(COUNT, [userId]);
  return row?.total ?? 0;
}

const GET = statement<{ view: FileView }>(
  'file.get',
  `select ${VIEW} as view from file f where f.id = $4 and ${CAN_READ_FILE}`,
);

/** The file, when there is one that the caller may read. */
export async function readFile(sql: Sql, reader: Reader, id: string): Promise<FileView | undefined> {
  const [row] = await sql.rows(GET, [...valuesOf(reader), id]);
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

const INSERT = statement<{ view: FileView }>(
  'file.insert',
  `with f as (
     insert into file (id, user_id, filename, content_type, size, sha256, meta, created_at, updated_at)
     select $1, u.id, $3, $4, $5, $6, $7::jsonb, $8::int, $8::int from users u where u.id = $2
     returning *
   )
   select ${VIEW} as view from f`,
);

/** Stores the row of an upload; undefined when the account is gone. */
export async function insertFile(sql: Sql, file: NewFile): Promise<FileView | undefined> {
  const { id, user_id, filename, content_type, size, sha256, meta, at } = file;
  const [row] = await sql.rows(INSERT, [
    id,
    user_id,
    filename,
    content_type,
    size,
    sha256,
    JSON.stringify(meta),
    at,
  ]);
  return row?.view;
}

interface DeletedFile {
  filename: string;
  user_id: string;
}
const DELETE = statement<DeletedFile>(
  'file.delete',
  'delete from file where id = $1 and (user_id = $2 or $3) returning filename, user_id',
);

/** Deletes the row of a file, for its owner and for administrators. @returns what it was; undefined when it is neither's, or there is none */
export async function deleteFileRow(
  sql: Sql,
  { id, role }: Caller,
  fileId: string,
): Promise<DeletedFile | undefined> {
  const [row] = await sql.rows(DELETE, [fileId, id, role === 'admin']);
  return row;
}

const RENAME = statement<DeletedFile & { view: FileView }>(
  'file.rename',
  `with before as (select id, filename, user_id from file where id = $1 and (user_id = $2 or $3) for update),
     f as (update file set filename = $4, updated_at = $5 from before where file.id = before.id returning file.*)
   select before.filename, before.user_id, ${VIEW} as view from f join before on true`,
);

/** Renames a file, for its owner and for administrators. @returns it, and what it was called; undefined as for `deleteFileRow` */
export async function renameFileRow(
  sql: Sql,
  { id, role }: Caller,
  { fileId, filename, at }: { fileId: string; filename: string; at: number },
): Promise<(DeletedFile & { view: FileView }) | undefined> {
  const [row] = await sql.rows(RENAME, [fileId, id, role === 'admin', filename, at]);
  return row;
}

const EDITED = statement<{ edited_text: string | null }>(
  'file.edited_text',
  'select edited_text from file where id = $1',
);

/** The text that stands for that of the bytes; null while there is none. */
export async function readEditedText(sql: Sql, fileId: string): Promise<string | null> {
  const [row] = await sql.rows(EDITED, [fileId]);
  return row?.edited_text ?? null;
}

const EDIT = statement<DeletedFile>(
  'file.edit_text',
  `update file set edited_text = $4, updated_at = $5 where id = $1 and (user_id = $2 or $3)
     returning filename, user_id`,
);

/** Stores the text of a file, for its owner and for administrators. @returns undefined as for `deleteFileRow` */
export async function editFileText(
  sql: Sql,
  { id, role }: Caller,
  { fileId, text, at }: { fileId: string; text: string; at: number },
): Promise<DeletedFile | undefined> {
  const [row] = await sql.rows(EDIT, [fileId, id, role === 'admin', text, at]);
  return row;
}

const DELETE_ALL = statement<{ id: string }>('file.delete_all', 'delete from file returning id');

/** @returns the ids of the files that there were */
export async function deleteAllRows(sql: Sql): Promise<string[]> {
  const rows = await sql.rows(DELETE_ALL, []);
  return rows.map(({ id }) => id);
}

const KNOWN = statement<{ id: string }>('file.known', 'select id from file where id = any($1::uuid[])');

/** Those of the ids that have a row, for the sweep of bytes without one. */
export async function listKnownFiles(sql: Sql, among: string[]): Promise<Set<string>> {
  const rows = await sql.rows(KNOWN, [among]);
  return new Set(rows.map(({ id }) => id));
}
