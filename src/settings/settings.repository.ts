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

/**
 * SQL: the settings after an update. `members` replaces members, `ui` replaces members of `ui`, and `removed`
 * names the members of `ui` to remove.
 */
const REPLACED = '(settings || :members::jsonb)';
const UI = `case when jsonb_typeof(${REPLACED} -> 'ui') = 'object' then ${REPLACED} -> 'ui' else '{}' end`;
const MERGED = `${REPLACED} || jsonb_build_object('ui', ((${UI}) || :ui::jsonb) - :removed::text[])`;

/** Concurrent updates queue on the row; the second merges into the result of the first. */
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

/** @returns the stored settings; undefined if they would exceed `maxBytes` as PostgreSQL writes them */
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
