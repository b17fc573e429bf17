import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import type { Grantable, Previewed } from '../core/rules.ts';
import { type Sql, type Statement, statement } from '../database/sql.ts';

export interface Reachable {
  items: { id: string; name: string }[];
  /** How many there are in all. */
  total: number;
}

/** The id is null in the one row of an empty list. */
interface Row {
  total: number;
  id: string | null;
  name: string;
}

interface Statements {
  ofUser: Statement<Row, CallerParams>;
  ofGroup: Statement<Row, { groupId: string }>;
}

/** A kind that has a preview. */
export type Previewable = Grantable & { preview: Previewed };

/** By type. */
const made = new Map<string, Statements>();

function previewing({ type, preview: { table, readableBy } }: Previewable): Statements {
  let found = made.get(type);
  if (!found) {
    const where = (condition: string) =>
      `select n.total, t.id, t.name from (select count(*)::int as total from ${table}) n
         left join ${table} t on (${condition}) order by lower(t.name), t.id`;
    found = {
      ofUser: statement(`preview.user_${type}`, where(readableBy(CALLER))),
      ofGroup: statement(
        `preview.group_${type}`,
        where(`t.id in (select g.resource_id from access_grant g where g.resource_type = '${type}' and
          ((g.principal_type = 'group' and g.principal_id = :groupId) or (g.principal_type = 'user' and g.principal_id = '*')))`),
      ),
    };
    made.set(type, found);
  }
  return found;
}

const hasItem = (row: Row): row is Row & { id: string } => row.id !== null;

const reachable = (rows: Row[]): Reachable => ({
  items: rows.filter(hasItem).map(({ id, name }) => ({ id, name })),
  total: rows[0]?.total ?? 0,
});

/** The things of a kind that an account may read, by name. */
export const readableBy = async (sql: Sql, kind: Previewable, account: Caller): Promise<Reachable> =>
  reachable(await sql.rows(previewing(kind).ofUser, callerOf(account)));

/** The things of a kind that membership of a group lets read, by name. */
export const readableInGroup = async (sql: Sql, kind: Previewable, groupId: string): Promise<Reachable> =>
  reachable(await sql.rows(previewing(kind).ofGroup, { groupId }));
