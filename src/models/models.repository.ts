import { grantsOf } from '../access/access.repository.ts';
import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { ModelEntity, ModelSnapshot } from './models.entity.ts';
import { CAN_READ, CAN_WRITE } from './models.policy.ts';
import type { ModelView } from './models.schema.ts';

export type ModelRow = ModelView & { can_read: boolean };

/** SQL for the account of the row `u` as JSON; null when the join found none. */
export const PERSON = `case when u.id is null then null else json_build_object('id', u.id, 'name', u.name, 'role', u.role,
    'email', case when ${CALLER.isAdmin} or u.id = ${CALLER.id} then u.email else '' end) end`;

/** The columns of `ModelView`; see `VIEWED`. */
export const VIEW = `t.id, t.user_id, t.base_model_id, t.name, t.meta, t.is_active, v.id as version_id, t.created_at, t.updated_at,
  case when w.may_write then t.params else '{}'::json end as params,
  case when w.may_write then ${grantsOf('model', 't.id')} else '[]'::json end as access_grants,
  w.may_write as write_access, ${PERSON} as "user"`;
export const VIEWED = `cross join lateral (select ${CAN_WRITE} as may_write) w
  left join model_version v on v.model_id = t.id and v.version = t.version left join users u on u.id = t.user_id`;

type OneParams = CallerParams & { modelId: string };

const READ = statement<ModelRow, OneParams>(
  'model.read',
  `select ${VIEW}, ${CAN_READ} as can_read from model t ${VIEWED} where t.id = :modelId`,
);

/** A record with the caller's rights on it; undefined when it does not exist. */
export async function readModel(sql: Sql, caller: Caller, modelId: string): Promise<ModelRow | undefined> {
  const [row] = await sql.rows(READ, { ...callerOf(caller), modelId });
  return row;
}

const PICTURE = statement<{ picture: string | null }, OneParams>(
  'model.picture',
  `select t.picture from model t where t.id = :modelId and ${CAN_READ}`,
);

/** The picture of a record that the caller may read. */
export async function readPicture(sql: Sql, caller: Caller, modelId: string): Promise<string | null> {
  const [row] = await sql.rows(PICTURE, { ...callerOf(caller), modelId });
  return row?.picture ?? null;
}

interface InsertParams {
  id: string;
  userId: string;
  baseModelId: string | null;
  opensBase: boolean;
  name: string;
  params: string;
  meta: string;
  picture: string | null;
  isActive: boolean;
  at: number;
}
const INSERT = statement<{ id: string }, InsertParams>(
  'model.insert',
  `insert into model (id, user_id, base_model_id, opens_base, name, params, meta, picture, is_active, version, created_at, updated_at)
     values (:id, :userId, :baseModelId, :opensBase, :name, :params::json, :meta::json, :picture, :isActive, 1, :at, :at)
     on conflict (id) do nothing returning id`,
);

/** Stores a record without a version; false when the id is taken. */
export async function insertModel(
  sql: Sql,
  model: Omit<ModelEntity, 'version' | 'updated_at'>,
): Promise<boolean> {
  const rows = await sql.rows(INSERT, {
    id: model.id,
    userId: model.user_id,
    baseModelId: model.base_model_id ?? null,
    opensBase: model.opens_base,
    name: model.name,
    params: JSON.stringify(model.params),
    meta: JSON.stringify(model.meta),
    picture: model.picture ?? null,
    isActive: model.is_active,
    at: model.created_at,
  });
  return rows.length > 0;
}

interface VersionParams {
  id: string;
  modelId: string;
  version: number;
  userId: string;
  snapshot: string;
  commitMessage: string | null;
  at: number;
  count: number;
  bytes: number;
}
/* The statement sees the versions before the new one: of these, one less is kept. */
const INSERT_VERSION = statement<never, VersionParams>(
  'model.insert_version',
  `with pruned as (delete from model_version v using (
       select id, row_number() over newest as place, sum(octet_length(snapshot::text)) over newest as bytes
         from model_version where model_id = :modelId window newest as (order by version desc)
     ) kept where v.id = kept.id and (kept.place >= :count::int or kept.bytes > :bytes::int))
   insert into model_version (id, model_id, version, user_id, snapshot, commit_message, created_at)
     values (:id, :modelId, :version, :userId, :snapshot::json, :commitMessage, :at)`,
);

export interface NewVersion {
  id: string;
  model_id: string;
  version: number;
  user_id: string;
  snapshot: ModelSnapshot;
  commit_message: string | null;
  created_at: number;
}

/** Stores a version, and deletes the oldest ones beyond this number and size. */
export const insertVersion = (sql: Sql, version: NewVersion, most: { count: number; bytes: number }) =>
  sql.rows(INSERT_VERSION, {
    id: version.id,
    modelId: version.model_id,
    version: version.version,
    userId: version.user_id,
    snapshot: JSON.stringify(version.snapshot),
    commitMessage: version.commit_message,
    at: version.created_at,
    ...most,
  });
