import { grantedIds, grantsOf, holdsGrant } from '../access/access.repository.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { ToolAccessView } from './tools.schema.ts';

/** SQL conditions on a row `t`; `$1` is the caller's id, `$2` whether they are an administrator. */
const OWNS = '($2 or t.user_id = $1)';
const CAN_WRITE = `(${OWNS} or ${holdsGrant('tool', 't.id', 'write', '$1::text')})`;
const CAN_READ = `(${OWNS} or ${holdsGrant('tool', 't.id', 'read', '$1::text')})`;

const VIEW = `t.id, t.user_id, t.name, t.meta, t.specs, t.created_at, t.updated_at, ${CAN_WRITE} as write_access,
  ${grantsOf('tool', 't.id')} as access_grants`;

interface ToolRow extends Omit<ToolAccessView, 'content'> {
  can_read: boolean;
  content: string;
}

const READ = statement<ToolRow>(
  'tool.read',
  `select ${VIEW}, ${CAN_READ} as can_read, t.content from tool t where t.id = $3`,
);

const LIST = statement<ToolAccessView>(
  'tool.list',
  `select ${VIEW} from tool t
    where $2 or t.user_id = $1 or t.id in (${grantedIds('tool', '$1::text')})
    order by t.updated_at desc, t.id`,
);

interface Caller {
  id: string;
  role: string;
}

/** A tool with its source and what the caller may do with it; undefined when there is none. */
export async function readTool(sql: Sql, caller: Caller, toolId: string): Promise<ToolRow | undefined> {
  const [row] = await sql.rows(READ, [caller.id, caller.role === 'admin', toolId]);
  return row;
}

/** The tools that the caller may read, without their sources, the last changed first. */
export const listTools = (sql: Sql, caller: Caller): Promise<ToolAccessView[]> =>
  sql.rows(LIST, [caller.id, caller.role === 'admin']);
