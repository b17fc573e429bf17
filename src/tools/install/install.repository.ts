import { type Sql, statement } from '../../database/sql.ts';
import type { Inspection } from '../../python/pool.ts';

const DESCRIBE = statement<
  { id: string },
  {
    id: string;
    version: number;
    specs: string | null;
    valves: string | null;
    userValves: string | null;
    requirements: string;
  }
>(
  'tool.describe',
  `update tool set specs = :specs::json, valves_schema = :valves::json, user_valves_schema = :userValves::json, is_described = true
     where id = :id and version = :version and requirements = :requirements::jsonb and not is_described returning id`,
);

/**
 * Stores the specification of a source after its first load. Returns false when the source has changed or
 * already has one.
 */
export async function describeTool(
  sql: Sql,
  { id, version, requirements }: { id: string; version: number; requirements: string[] },
  { specs, valves, user_valves }: Inspection,
): Promise<boolean> {
  const rows = await sql.rows(DESCRIBE, {
    id,
    version,
    specs: JSON.stringify(specs),
    valves: valves && JSON.stringify(valves),
    userValves: user_valves && JSON.stringify(user_valves),
    requirements: JSON.stringify(requirements),
  });
  return rows.length > 0;
}

const WIDEN = statement<{ id: string }, { id: string; version: number; requirements: string; wider: string }>(
  'tool.widen',
  `update tool set requirements = :wider::jsonb
     where id = :id and version = :version and requirements = :requirements::jsonb and not is_described returning id`,
);

/**
 * Adds the packages that a source turned out to need. Returns false when the source has changed or already
 * requires them.
 */
export async function widenRequirements(
  sql: Sql,
  { id, version, requirements }: { id: string; version: number; requirements: string[] },
  wider: string[],
): Promise<boolean> {
  const rows = await sql.rows(WIDEN, {
    id,
    version,
    requirements: JSON.stringify(requirements),
    wider: JSON.stringify(wider),
  });
  return rows.length > 0;
}

const WANTED = statement<{ requirements: string[] }>(
  'tool.packages',
  `select distinct requirements from tool where requirements <> '[]'`,
);

/** The sets of packages that tools require. */
export const listWantedPackages = async (sql: Sql): Promise<string[][]> =>
  (await sql.rows(WANTED)).map(({ requirements }) => requirements);
