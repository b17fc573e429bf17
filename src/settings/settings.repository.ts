import { type Sql, statement } from '../database/sql.ts';

type Settings = Record<string, unknown>;

const READ = statement<{ settings: Settings }>('settings.read', 'select settings from users where id = $1');

export async function readSettings(sql: Sql, userId: string): Promise<Settings> {
  const [row] = await sql.rows(READ, [userId]);
  return row?.settings ?? {};
}

/** SQL for the settings after an update: `$2` replaces members, `$3` members of `ui`, and `$4` names those that `ui` loses. */
const REPLACED = '(settings || $2::jsonb)';
const UI = `case when jsonb_typeof(${REPLACED} -> 'ui') = 'object' then ${REPLACED} -> 'ui' else '{}' end`;
const MERGED = `${REPLACED} || jsonb_build_object('ui', ((${UI}) || $3::jsonb) - $4::text[])`;

/** Two updates at once queue on the row, and the second merges into what the first left. */
const MERGE = statement<{ settings: Settings }>(
  'settings.merge',
  `update users set settings = ${MERGED} where id = $1 and octet_length((${MERGED})::text) <= $5 returning settings`,
);

export interface SettingsChange {
  /** Members to replace. */
  members: Settings;
  /** Members of `ui` to replace; null removes one. */
  ui: Settings;
}

/** @returns what is stored then; undefined when it would be more than `maxBytes` as PostgreSQL writes it */
export async function mergeSettings(
  sql: Sql,
  userId: string,
  { members, ui }: SettingsChange,
  maxBytes: number,
): Promise<Settings | undefined> {
  const removed = Object.keys(ui).filter((name) => ui[name] === null);
  const [row] = await sql.rows(MERGE, [
    userId,
    JSON.stringify(members),
    JSON.stringify(ui),
    removed,
    maxBytes,
  ]);
  return row?.settings;
}
