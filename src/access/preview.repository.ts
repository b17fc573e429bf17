import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import { grantedIds } from './access.repository.ts';

interface Named {
  id: string;
  name: string;
}
export interface Tools {
  items: Named[];
  total: number;
}

const tools = (condition: string) =>
  `select (select count(*)::int from tool) as total, coalesce((
     select json_agg(json_build_object('id', t.id, 'name', t.name) order by lower(t.name), t.id) from tool t
      where ${condition}), '[]'::json) as items`;

const OF_USER = statement<Tools, CallerParams>(
  'preview.user_tools',
  tools(`${CALLER.isAdmin} or t.user_id = ${CALLER.id} or t.id in (${grantedIds('tool', CALLER)})`),
);
const OF_GROUP = statement<Tools, { groupId: string }>(
  'preview.group_tools',
  tools(`t.id in (select g.resource_id from access_grant g where g.resource_type = 'tool' and
    ((g.principal_type = 'group' and g.principal_id = :groupId) or (g.principal_type = 'user' and g.principal_id = '*')))`),
);

const NONE: Tools = { items: [], total: 0 };

/** The tools that an account may read, by name. */
export async function readableTools(sql: Sql, account: Caller): Promise<Tools> {
  const [row] = await sql.rows(OF_USER, callerOf(account));
  return row ?? NONE;
}

/** The tools that membership of a group lets read, by name. */
export async function toolsOfGroup(sql: Sql, groupId: string): Promise<Tools> {
  const [row] = await sql.rows(OF_GROUP, { groupId });
  return row ?? NONE;
}
