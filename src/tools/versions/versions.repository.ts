import { type Sql, statement } from '../../database/sql.ts';
import { PERSON } from '../tools.repository.ts';
import type { ToolHistoryEntry, ToolHistorySnapshot, ToolVersionView } from './versions.schema.ts';

const VIEW = `v.version, v.user_id, ${PERSON} as "user", v.restored_from, v.created_at, octet_length(v.content) as size`;

const LIST = statement<ToolVersionView, { toolId: string; skip: number; limit: number }>(
  'tool.versions.list',
  `select ${VIEW} from (select * from tool_version where tool_id = :toolId order by version desc offset :skip limit :limit) v
     left join users u on u.id = v.user_id order by v.version desc`,
);

const READ = statement<ToolVersionView & { content: string }, { toolId: string; version: number }>(
  'tool.versions.read',
  `select ${VIEW}, v.content from tool_version v left join users u on u.id = v.user_id
    where v.tool_id = :toolId and v.version = :version`,
);

const ENTRY = `v.version::text as id, v.tool_id, v.user_id, v.created_at, v.commit_message,
  case when u.id is null then null else json_build_object('name', u.name) end as "user",
  (select max(p.version)::text from tool_version p where p.tool_id = v.tool_id and p.version < v.version) as parent_id`;

const HISTORY = statement<ToolHistoryEntry, { toolId: string; skip: number; limit: number }>(
  'tool.history.list',
  `select ${ENTRY} from (select * from tool_version where tool_id = :toolId order by version desc offset :skip limit :limit) v
     left join users u on u.id = v.user_id order by v.version desc`,
);

const SNAPSHOT = statement<ToolHistorySnapshot, { toolId: string; version: number }>(
  'tool.history.read',
  `select ${ENTRY}, json_build_object('name', t.name, 'content', v.content,
         'meta', t.meta - 'manifest') as snapshot
     from tool_version v join tool t on t.id = v.tool_id left join users u on u.id = v.user_id
     where v.tool_id = :toolId and v.version = :version`,
);

const REMOVE = statement<{ version: number }, { toolId: string; version: number }>(
  'tool.versions.remove',
  'delete from tool_version where tool_id = :toolId and version = :version returning version',
);

const PRUNE = statement<never, { toolId: string; count: number; bytes: number }>(
  'tool.versions.prune',
  `delete from tool_version v using (
       select version, row_number() over newest as place, sum(octet_length(content)) over newest as bytes
         from tool_version where tool_id = :toolId window newest as (order by version desc)
     ) kept
     where v.tool_id = :toolId and v.version = kept.version and kept.place > 1 and (kept.place > :count or kept.bytes > :bytes)`,
);

/**
 * Keeps the newest versions of a tool, bounded by number and total size; the newest version is always kept.
 */
export const pruneVersions = (sql: Sql, toolId: string, { count, bytes }: { count: number; bytes: number }) =>
  sql.rows(PRUNE, { toolId, count, bytes });

/** The versions of a tool's source, the newest first, without the sources. */
export function listVersions(
  sql: Sql,
  toolId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<ToolVersionView[]> {
  return sql.rows(LIST, { toolId, skip, limit });
}

/** One version with its source; undefined when it does not exist. */
export async function readVersion(sql: Sql, toolId: string, version: number) {
  const [row] = await sql.rows(READ, { toolId, version });
  return row;
}

/** The versions of a tool's source as clients of Open WebUI know them, the newest first. */
export function listHistory(
  sql: Sql,
  toolId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<ToolHistoryEntry[]> {
  return sql.rows(HISTORY, { toolId, skip, limit });
}

/** One entry with its source; undefined when it does not exist. */
export async function readSnapshot(sql: Sql, toolId: string, version: number) {
  const [row] = await sql.rows(SNAPSHOT, { toolId, version });
  return row;
}

/** Removes a version; returns false when it does not exist. */
export const removeVersion = async (sql: Sql, toolId: string, version: number): Promise<boolean> =>
  (await sql.rows(REMOVE, { toolId, version })).length > 0;
