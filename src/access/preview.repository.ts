import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import type { Grantable, Previewed } from '../core/rules.ts';
import { type Sql, type Statement, statement } from '../database/sql.ts';
import { ANCESTORS, groupsOf } from '../groups/groups.policy.ts';

export interface Reachable {
  items: { id: string; name: string }[];
  /** The total number. */
  total: number;
}

/** By type. */
export type Reach = Readonly<Record<string, Reachable>>;

/** The id is null in the one row of an empty list. */
interface Row {
  type: string;
  total: number;
  id: string | null;
  name: string;
}

interface Statements {
  ofUser: Statement<Row, CallerParams>;
  ofGroup: Statement<Row, { groupId: string }>;
}

/** The groups of an account are read with the rest; no kind has this name. */
const GROUP = 'group';

/** A kind that has a preview. */
type Previewable = Grantable & { preview: Previewed };
const isPreviewable = (kind: Grantable): kind is Previewable => kind.preview !== undefined;

/** By type. */
const made = new Map<string, Statements>();

function previewing(kinds: readonly Previewable[]): Statements {
  const types = kinds.map(({ type }) => type).join('_');
  let found = made.get(types);
  if (!found) {
    const list = (type: string, table: string, condition: string) =>
      `select '${type}' as type, n.total, t.id, t.name
         from (select count(*)::int as total from ${table}) n left join ${table} t on (${condition})`;
    const lists = (conditionOf: (kind: Previewable) => string, others: string[] = []) => {
      const each = [
        ...kinds.map((kind) => list(kind.type, kind.preview.table, conditionOf(kind))),
        ...others,
      ];
      return `select * from (${each.join(' union all ')}) x order by x.type, lower(x.name), x.id`;
    };
    found = {
      ofUser: statement(
        `preview.user_${types}`,
        lists(
          ({ preview }) => preview.readableBy(CALLER),
          [list(GROUP, 'user_group', `t.id in (${groupsOf(CALLER.id)})`)],
        ),
      ),
      ofGroup: statement(
        `preview.group_${types}`,
        lists(
          ({
            type,
          }) => `t.id in (select g.resource_id from access_grant g where g.resource_type = '${type}' and
            ((g.principal_type = 'group' and g.principal_id in (select :groupId union all ${ANCESTORS})) or (g.principal_type = 'user' and g.principal_id = '*')))`,
        ),
      ),
    };
    made.set(types, found);
  }
  return found;
}

const hasItem = (row: Row): row is Row & { id: string } => row.id !== null;

const reachOf = (rows: Row[]): Reach =>
  Object.fromEntries(
    Object.entries(Object.groupBy(rows, ({ type }) => type)).map(([type, of = []]) => [
      type,
      { items: of.filter(hasItem).map(({ id, name }) => ({ id, name })), total: of[0]?.total ?? 0 },
    ]),
  );

/** The groups of an account, and what it may read of the kinds that have a preview, by name. */
export async function readableBy(
  sql: Sql,
  kinds: readonly Grantable[],
  account: Caller,
): Promise<{ groups: Reachable['items']; reach: Reach }> {
  const rows = await sql.rows(previewing(kinds.filter(isPreviewable)).ofUser, callerOf(account));
  const { [GROUP]: groups, ...reach } = reachOf(rows);
  return { groups: groups?.items ?? [], reach };
}

/** What the members of a group may read of each kind that has a preview, ordered by name. */
export const readableInGroup = async (
  sql: Sql,
  kinds: readonly Grantable[],
  groupId: string,
): Promise<Reach> => reachOf(await sql.rows(previewing(kinds.filter(isPreviewable)).ofGroup, { groupId }));
