import { type Sql, statement } from '../database/sql.ts';

type Settings = Record<string, unknown>;

const READ = statement<{ settings: Settings }, { userId: string }>(
  'settings.read',
  'select settings from users where id = :userId',
);

export async function readSettings(sql: Sql, userId: string): Promise<Settings> {
  const [row] = await sql.rows(READ, { userId });
  return row?.settings ?? {};
}

/** SQL for the settings after an update: `members` replaces members, `ui` members of `ui`, and `removed` names those that `ui` loses. */
const REPLACED = '(settings || :members::jsonb)';
const UI = `case when jsonb_typeof(${REPLACED} -> 'ui') = 'object' then ${REPLACED} -> 'ui' else '{}' end`;
const MERGED = `${REPLACED} || jsonb_build_object('ui', ((${UI}) || :ui::jsonb) - :removed::text[])`;

/** Two updates at once queue on the row, and the second merges into what the first left. */
const MERGE = statement<
  { settings: Settings },
  { userId: string; members: string; ui: string; removed: string[]; maxBytes: number }
>(
  'settings.merge',
  `update users set settings = ${MERGED} where id = :userId and octet_length((${MERGED})::text) <= :maxBytes returning settings`,
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
  const [row] = await sql.rows(MERGE, {
    userId,
    members: JSON.stringify(members),
    ui: JSON.stringify(ui),
    removed,
    maxBytes,
  });
  return row?.settings;
}
