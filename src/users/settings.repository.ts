import { type Sql, statement } from '../database/sql.ts';

type Settings = Record<string, unknown>;

const READ = statement<{ settings: Settings }>('settings.read', 'select settings from users where id = $1');

export async function readSettings(sql: Sql, userId: string): Promise<Settings> {
  const [row] = await sql.rows(READ, [userId]);
  return row?.settings ?? {};
}

/** Two updates at once queue on the row, and the second merges into what the first left. */
const MERGE = statement<{ settings: Settings }>(
  'settings.merge',
  `update users set settings = settings || $2::jsonb
    where id = $1 and octet_length((settings || $2::jsonb)::text) <= $3
    returning settings`,
);

/** @returns what is stored then; undefined when it would be more than `maxBytes` as PostgreSQL writes it */
export async function mergeSettings(
  sql: Sql,
  userId: string,
  changes: Settings,
  maxBytes: number,
): Promise<Settings | undefined> {
  const [row] = await sql.rows(MERGE, [userId, JSON.stringify(changes), maxBytes]);
  return row?.settings;
}
