import { v7 as uuidv7 } from 'uuid';
import { nowSeconds } from '../core/time.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { Origins } from './configs.overrides.ts';
import { CONFIG_VERSION } from './settings/configs.defaults.ts';
import type { Tree } from './settings/configs.settings.ts';

export interface StoredConfig {
  revision: number;
  /** The overrides as in the database: secrets are sealed. */
  data: Tree;
  origins: Origins;
  installation_id: string;
}

const BEGIN = statement<never, { data: string; at: number; installationId: string }>(
  'config.begin',
  `insert into config (id, revision, data, updated_at, installation_id) values (1, 1, :data::jsonb, :at, :installationId)
   on conflict do nothing`,
);

/** Stores a configuration without overrides, unless one is stored. */
export async function beginConfig(sql: Sql): Promise<void> {
  await sql.rows(BEGIN, {
    data: JSON.stringify({ version: CONFIG_VERSION }),
    at: nowSeconds(),
    installationId: uuidv7(),
  });
}

const MARK = statement<{ secret_mark: string | null }>(
  'config.mark',
  'select secret_mark from config where id = 1',
);

/** The mark by which the secret of the database is recognised; null if no server has marked it. */
export async function readMark(sql: Sql): Promise<string | null> {
  const [row] = await sql.rows(MARK);
  return row?.secret_mark ?? null;
}

const WRITE_MARK = statement<never, { mark: string }>(
  'config.mark.write',
  'update config set secret_mark = :mark where id = 1',
);

export async function writeMark(sql: Sql, mark: string): Promise<void> {
  await sql.rows(WRITE_MARK, { mark });
}

const READ = statement<StoredConfig>(
  'config.read',
  'select revision, data, origins, installation_id from config where id = 1',
);

/** @throws Error when the row is missing, although no code deletes it */
export async function readConfig(sql: Sql): Promise<StoredConfig> {
  return only(await sql.rows(READ));
}

const LOCK = statement<StoredConfig>(
  'config.lock',
  'select revision, data, origins, installation_id from config where id = 1 for update',
);

/** Like `readConfig`; other transactions that change the row wait for this one. */
export async function lockConfig(sql: Sql): Promise<StoredConfig> {
  return only(await sql.rows(LOCK));
}

function only([row]: StoredConfig[]): StoredConfig {
  if (!row) throw new Error('The configuration row is gone.');
  return row;
}

/** How many configurations the history keeps. */
export const HISTORY_ENTRIES = 100;

export interface ConfigChange {
  id: string;
  revision: number;
  data: Tree;
  origin: 'import' | 'rollback' | 'command';
  changed: string[];
  origins: Origins;
  at: number;
  by: string | null;
}

const STORE = statement<
  never,
  {
    id: string;
    revision: number;
    data: string;
    origin: ConfigChange['origin'];
    changed: string;
    at: number;
    by: string | null;
    kept: number;
    origins: string;
  }
>(
  'config.store',
  `with stored as (
     update config set revision = :revision, data = :data::jsonb, updated_at = :at, updated_by = :by,
            origins = :origins::jsonb where id = 1
   ), forgotten as (
     delete from config_history where revision <= :revision - :kept
   )
   insert into config_history (id, revision, data, origin, changed, created_at, created_by)
   values (:id, :revision, :data::jsonb, :origin, :changed::jsonb, :at, :by)`,
);

/** Stores a configuration, also in the history, which keeps the last `HISTORY_ENTRIES` entries. */
export async function storeConfig(sql: Sql, change: ConfigChange): Promise<void> {
  const { id, revision, data, origin, changed, origins, at, by } = change;
  await sql.rows(STORE, {
    id,
    revision,
    data: JSON.stringify(data),
    origin,
    changed: JSON.stringify(changed),
    at,
    by,
    kept: HISTORY_ENTRIES,
    origins: JSON.stringify(origins),
  });
}

const REMEMBER = statement<never, { id: string }>(
  'config.remember',
  `insert into config_history (id, revision, data, origin, changed, created_at, created_by)
   select :id, revision, data, 'start', '[]', updated_at, updated_by from config where id = 1
   on conflict do nothing`,
);

/** Adds the stored configuration to the history, unless it is there, so that the first import can be undone too. */
export async function rememberConfig(sql: Sql, id: string): Promise<void> {
  await sql.rows(REMEMBER, { id });
}

export interface HistoryRow {
  id: string;
  revision: number;
  origin: 'start' | 'import' | 'rollback' | 'command';
  changed: string[];
  created_at: number;
  created_by: string | null;
  created_by_name: string | null;
  /** The stored form; null if no path was given. */
  data: Tree | null;
}

const HISTORY = statement<HistoryRow, { path: string | null; skip: number; limit: number }>(
  'config.history',
  `select h.id, h.revision, h.origin, h.changed, h.created_at, h.created_by, u.name as created_by_name,
          case when :path::text is not null then h.data end as data
     from config_history h left join users u on u.id = h.created_by
    where :path::text is null or exists (
      select from jsonb_array_elements_text(h.changed) as c (path)
       where c.path = :path or starts_with(c.path, :path || '.') or starts_with(:path, c.path || '.'))
    order by h.revision desc offset :skip limit :limit`,
);

/** The history, newest first. @param page.path only the changes of this setting, with the configurations */
export const listHistory = (
  sql: Sql,
  { path = null, skip, limit }: { path?: string | null | undefined; skip: number; limit: number },
): Promise<HistoryRow[]> => sql.rows(HISTORY, { path, skip, limit });

const ENTRY = statement<{ data: Tree }, { id: string }>(
  'config.history.entry',
  'select data from config_history where id = :id',
);

/** The configuration of an entry of the history; undefined when there is no such entry. */
export async function findHistory(sql: Sql, id: string): Promise<Tree | undefined> {
  const [row] = await sql.rows(ENTRY, { id });
  return row?.data;
}

export interface LastChange {
  /** Unix seconds. */
  updated_at: number;
  updated_by: string | null;
  origins: Origins;
}

const UPDATED = statement<LastChange>(
  'config.updated',
  'select updated_at, updated_by, origins from config where id = 1',
);

/** When and by whom the configuration was last changed, and when and by whom each setting was set. */
export async function lastChange(sql: Sql): Promise<LastChange> {
  const [row] = await sql.rows(UPDATED);
  return row ?? { updated_at: 0, updated_by: null, origins: {} };
}
