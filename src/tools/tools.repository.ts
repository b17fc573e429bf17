import { grantsOf } from '../access/access.repository.ts';
import { type EntryParams, insertEntry } from '../audit/audit.record.repository.ts';
import { type AuditEvent, type AuditScope, entryOf } from '../audit/audit.record.ts';
import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { JsonSchema } from '../python/protocol.ts';
import type { ToolEntity } from './tools.entity.ts';
import { CAN_READ, CAN_WRITE, readableOfAll } from './tools.policy.ts';
import type { ToolAccessView, ToolExport, ToolListing } from './tools.schema.ts';

interface Rights {
  can_read: boolean;
  write_access: boolean;
}

export interface ToolRow extends Omit<ToolAccessView, 'content'>, Rights {
  content: string;
}

/** Includes whether the tool has user valves; that comes from the source, not from the request. */
const META = "t.meta || jsonb_build_object('has_user_valves', t.user_valves_schema is not null)";

type OneParams = CallerParams & { toolId: string };

const READ = statement<ToolRow, OneParams>(
  'tool.read',
  `select t.id, t.user_id, t.name, ${META} as meta, t.version::text as version_id, t.specs, t.created_at, t.updated_at, t.content,
       ${grantsOf('tool', 't.id')} as access_grants, ${CAN_WRITE} as write_access, ${CAN_READ} as can_read
     from tool t where t.id = :toolId`,
);

/** The rights of a person on a tool, without its source, which may be long. */
export interface ToolRights extends Rights {
  id: string;
  name: string;
}

const RIGHTS = statement<ToolRights, OneParams>(
  'tool.rights',
  `select t.id, t.name, ${CAN_WRITE} as write_access, ${CAN_READ} as can_read from tool t where t.id = :toolId`,
);

/** A tool with the data for a call. The valves are sealed. */
export interface UsedTool extends Rights {
  id: string;
  content: string;
  version: number;
  created_at: number;
  /** The packages to install for the tool. */
  requirements: string[];
  is_described: boolean;
  valves: string | null;
  user_valves: string | null;
  valves_schema: JsonSchema | null;
  user_valves_schema: JsonSchema | null;
}

const USE = statement<UsedTool, OneParams>(
  'tool.use',
  `select t.id, t.content, t.version, t.created_at, t.requirements, t.is_described, t.valves, t.valves_schema, t.user_valves_schema,
       v.valves as user_valves, ${CAN_WRITE} as write_access, ${CAN_READ} as can_read
     from tool t left join tool_user_valves v on v.tool_id = t.id and v.user_id = :callerId
     where t.id = :toolId`,
);

/** SQL for a row `u` of the users as JSON; null when the join found no row. */
export const PERSON =
  "case when u.id is null then null else json_build_object('id', u.id, 'name', u.name, 'role', u.role) end";

/** The functions of a tool. */
export type DescribedTool = Pick<ToolEntity, 'id' | 'name' | 'specs'>;

const DESCRIBE = statement<DescribedTool, CallerParams & { toolIds: string[] }>(
  'tool.describe',
  `select t.id, t.name, t.specs from tool t where t.id = any(:toolIds) and (${CAN_READ})`,
);

const SHARED = `t.id, t.user_id, t.name, ${META} as meta, t.version::text as version_id, t.specs,
  ${grantsOf('tool', 't.id')} as access_grants, t.updated_at, t.created_at`;
const LISTED = `${SHARED}, w.may_write as write_access, t.user_valves_schema is not null as has_user_valves,
  case when u.id is null then null else json_build_object('id', u.id, 'name', u.name, 'role', u.role,
    'email', case when :callerIsAdmin or u.id = :callerId then u.email else '' end) end as "user"`;

const list = <Row>(name: string, columns: string, order: string) =>
  statement<Row, CallerParams>(
    name,
    `select ${columns} from tool t left join users u on u.id = t.user_id
      cross join lateral (select ${CAN_WRITE} as may_write) w
     where ${readableOfAll(CALLER)} order by ${order}`,
  );
/** The source only for those who may change it. */
const SOURCE = 'case when w.may_write then t.content end as content';
type WithSource<Row> = Omit<Row, 'content'> & { content: string | null };

const NEWEST_FIRST = 't.updated_at desc, t.id';
const LIST = list<ToolListing>('tool.list', LISTED, NEWEST_FIRST);
const LIST_WITH_SOURCES = list<WithSource<ToolListing>>('tool.sources', `${LISTED}, ${SOURCE}`, NEWEST_FIRST);
const EXPORT = list<WithSource<ToolExport>>('tool.export', `${SHARED}, ${SOURCE}`, 't.id');

// Stores a tool, its first version and the audit entry in one statement. Returns no row when the id is taken.
// People choose ids, so an id may be used again: remains of the old tool must not apply to the new owner.
interface InsertParams extends EntryParams {
  id: string;
  userId: string;
  name: string;
  content: string;
  meta: string;
  specs: string;
  valvesSchema: string | null;
  userValvesSchema: string | null;
  requirements: string;
  isDescribed: boolean;
  at: number;
  commitMessage: string | null;
}
const INSERT = statement<{ id: string }, InsertParams>(
  'tool.insert',
  `with made as (
     insert into tool (id, user_id, name, content, meta, specs, valves_schema, user_valves_schema, requirements,
         is_described, version, created_at, updated_at)
       values (:id, :userId, :name, :content, :meta::jsonb, :specs::json, :valvesSchema::json, :userValvesSchema::json,
         :requirements::jsonb, :isDescribed, 1, :at, :at)
       on conflict (id) do nothing returning *),
   kept as (insert into tool_version (tool_id, version, user_id, content, commit_message, created_at)
     select id, version, user_id, content, :commitMessage, created_at from made),
   revoked as (delete from access_grant where resource_type = 'tool' and resource_id in (select id from made)),
   noted as (${insertEntry('made')})
   select id from made`,
);

/** Leaves the source out when the caller may not read it. */
const known = <Row extends { content: string | null }>({ content, ...tool }: Row) =>
  content === null ? tool : { ...tool, content };

/** A tool with its source and the caller's rights on it; undefined when it does not exist. */
export async function readTool(sql: Sql, caller: Caller, toolId: string): Promise<ToolRow | undefined> {
  const [row] = await sql.rows(READ, { ...callerOf(caller), toolId });
  return row;
}

/** The caller's rights on a tool; undefined when it does not exist. */
export async function readToolRights(
  sql: Sql,
  caller: Caller,
  toolId: string,
): Promise<ToolRights | undefined> {
  const [row] = await sql.rows(RIGHTS, { ...callerOf(caller), toolId });
  return row;
}

/** A tool with the data for a call by the caller; undefined when it does not exist. */
export async function readToolInUse(sql: Sql, caller: Caller, toolId: string): Promise<UsedTool | undefined> {
  const [row] = await sql.rows(USE, { ...callerOf(caller), toolId });
  return row;
}

/** The functions of those of these tools that the caller may read. */
export const describeTools = (sql: Sql, caller: Caller, toolIds: string[]): Promise<DescribedTool[]> =>
  sql.rows(DESCRIBE, { ...callerOf(caller), toolIds });

/** The tools that the caller may read, without their sources, the last changed first. */
export const listTools = (sql: Sql, caller: Caller): Promise<ToolListing[]> =>
  sql.rows(LIST, callerOf(caller));

/** The same, with the source of those that the caller may change. */
export const listToolsWithSources = async (sql: Sql, caller: Caller): Promise<ToolListing[]> =>
  (await sql.rows(LIST_WITH_SOURCES, callerOf(caller))).map(known);

export const exportTools = async (sql: Sql, caller: Caller): Promise<ToolExport[]> =>
  (await sql.rows(EXPORT, callerOf(caller))).map(known);

/** The first state of a tool. */
export type NewTool = Pick<
  ToolEntity,
  | 'id'
  | 'user_id'
  | 'name'
  | 'content'
  | 'meta'
  | 'specs'
  | 'valves_schema'
  | 'user_valves_schema'
  | 'requirements'
  | 'is_described'
  | 'created_at'
> & { commit_message: string | null };

/** Stores a tool with its first version and an entry of the audit log; false when the id is taken. */
export async function insertTool(
  sql: Sql,
  tool: NewTool,
  { scope, event }: { scope: AuditScope; event: AuditEvent },
): Promise<boolean> {
  const json = (value: object) => JSON.stringify(value);
  const rows = await sql.rows(INSERT, {
    id: tool.id,
    userId: tool.user_id,
    name: tool.name,
    content: tool.content,
    meta: json(tool.meta),
    specs: json(tool.specs),
    valvesSchema: tool.valves_schema ? json(tool.valves_schema) : null,
    userValvesSchema: tool.user_valves_schema ? json(tool.user_valves_schema) : null,
    requirements: json(tool.requirements),
    isDescribed: tool.is_described,
    at: tool.created_at,
    commitMessage: tool.commit_message,
    ...entryOf(scope, event),
  });
  return rows.length > 0;
}
