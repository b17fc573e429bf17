import { type Sql, statement } from '../../database/sql.ts';
import type { Inspection } from '../../python/pool.ts';

const DESCRIBE = statement<{ id: string }>(
  'tool.describe',
  `update tool set specs = $3::json, valves_schema = $4::json, user_valves_schema = $5::json, is_described = true
     where id = $1 and version = $2 and requirements = $6::jsonb and not is_described returning id`,
);

/** Fills in what a source says of itself once it could be loaded; false when it was another by then, or done. */
export async function describeTool(
  sql: Sql,
  { id, version, requirements }: { id: string; version: number; requirements: string[] },
  { specs, valves, user_valves }: Inspection,
): Promise<boolean> {
  const texts = [specs, valves, user_valves].map((value) => value && JSON.stringify(value));
  const rows = await sql.rows(DESCRIBE, [id, version, ...texts, JSON.stringify(requirements)]);
  return rows.length > 0;
}

const WIDEN = statement<{ id: string }>(
  'tool.widen',
  `update tool set requirements = $4::jsonb
     where id = $1 and version = $2 and requirements = $3::jsonb and not is_described returning id`,
);

/** Adds what a source turned out to need; false when it was another by then, or asks for that already. */
export async function widenRequirements(
  sql: Sql,
  { id, version, requirements }: { id: string; version: number; requirements: string[] },
  wider: string[],
): Promise<boolean> {
  const rows = await sql.rows(WIDEN, [id, version, JSON.stringify(requirements), JSON.stringify(wider)]);
  return rows.length > 0;
}

const WANTED = statement<{ requirements: string[] }>(
  'tool.packages',
  `select distinct requirements from tool where requirements <> '[]'`,
);

/** The sets of packages that tools ask for. */
export const listWantedPackages = async (sql: Sql): Promise<string[][]> =>
  (await sql.rows(WANTED, [])).map(({ requirements }) => requirements);
