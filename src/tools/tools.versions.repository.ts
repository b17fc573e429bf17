import { Json } from '../core/json.ts';
import { type Sql, statement } from '../database/sql.ts';
import { PERSON } from './tools.repository.ts';
import type { ToolHistoryEntry, ToolHistorySnapshot, ToolVersionView } from './tools.versions.schema.ts';

const VIEW = `'version', v.version, 'user_id', v.user_id, 'user', ${PERSON}, 'restored_from', v.restored_from,
  'created_at', v.created_at, 'size', octet_length(v.content)`;

const LIST = statement<{ text: string }>(
  'tool.versions.list',
  `select coalesce(json_agg(json_build_object(${VIEW}) order by v.version desc), '[]'::json)::text as text
     from (select * from tool_version where tool_id = $1 order by version desc offset $2 limit $3) v
     left join users u on u.id = v.user_id`,
);

const READ = statement<{ view: ToolVersionView & { content: string } }>(
  'tool.versions.read',
  `select json_build_object(${VIEW}, 'content', v.content) as view
     from tool_version v left join users u on u.id = v.user_id where v.tool_id = $1 and v.version = $2`,
);

const ENTRY = `'id', v.version::text, 'tool_id', v.tool_id, 'user_id', v.user_id, 'created_at', v.created_at,
  'commit_message', null, 'user', case when u.id is null then null else json_build_object('name', u.name) end,
  'parent_id', (select max(p.version)::text from tool_version p where p.tool_id = v.tool_id and p.version < v.version)`;

const HISTORY = statement<{ text: string }>(
  'tool.history.list',
  `select coalesce(json_agg(json_build_object(${ENTRY}) order by v.version desc), '[]'::json)::text as text
     from (select * from tool_version where tool_id = $1 order by version desc offset $2 limit $3) v
     left join users u on u.id = v.user_id`,
);

const SNAPSHOT = statement<{ view: ToolHistorySnapshot }>(
  'tool.history.read',
  `select json_build_object(${ENTRY}, 'snapshot', json_build_object('name', t.name, 'content', v.content,
         'meta', json_build_object('description', t.meta->'description'))) as view
     from tool_version v join tool t on t.id = v.tool_id left join users u on u.id = v.user_id
     where v.tool_id = $1 and v.version = $2`,
);

const REMOVE = statement<{ version: number }>(
  'tool.versions.remove',
  'delete from tool_version where tool_id = $1 and version = $2 returning version',
);

const PRUNE = statement<never>(
  'tool.versions.prune',
  `delete from tool_version v using (
       select version, row_number() over newest as place, sum(octet_length(content)) over newest as bytes
         from tool_version where tool_id = $1 window newest as (order by version desc)
     ) kept
     where v.tool_id = $1 and v.version = kept.version and kept.place > 1 and (kept.place > $2 or kept.bytes > $3)`,
);

/** Keeps the newest versions of a tool, so many and of so many bytes together; the newest whatever its size. */
export const pruneVersions = (sql: Sql, toolId: string, { count, bytes }: { count: number; bytes: number }) =>
  sql.rows(PRUNE, [toolId, count, bytes]);

/** The versions of a tool's source, the newest first, without the sources. */
export async function listVersions(
  sql: Sql,
  toolId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<Json<ToolVersionView[]>> {
  const [row] = await sql.rows(LIST, [toolId, skip, limit]);
  return new Json(row?.text ?? '[]');
}

/** One version with its source; undefined when there is none. */
export async function readVersion(sql: Sql, toolId: string, version: number) {
  const [row] = await sql.rows(READ, [toolId, version]);
  return row?.view;
}

/** The versions of a tool's source as clients of Open WebUI know them, the newest first. */
export async function listHistory(
  sql: Sql,
  toolId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<Json<ToolHistoryEntry[]>> {
  const [row] = await sql.rows(HISTORY, [toolId, skip, limit]);
  return new Json(row?.text ?? '[]');
}

/** One of them with its source; undefined when there is none. */
export async function readSnapshot(sql: Sql, toolId: string, version: number) {
  const [row] = await sql.rows(SNAPSHOT, [toolId, version]);
  return row?.view;
}

/** Removes a version; false when there is none. */
export const removeVersion = async (sql: Sql, toolId: string, version: number): Promise<boolean> =>
  (await sql.rows(REMOVE, [toolId, version])).length > 0;
