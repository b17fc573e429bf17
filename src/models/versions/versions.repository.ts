import { type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { CAN_WRITE } from '../models.policy.ts';
import type { ModelVersionView } from './versions.schema.ts';

const VIEW = `v.id, v.model_id, v.user_id, v.snapshot, v.commit_message, v.created_at, v.version = t.version as is_current,
  case when u.id is null then null else json_build_object('id', u.id, 'name', u.name) end as "user"`;

const LIST = statement<ModelVersionView, { modelId: string; skip: number; limit: number }>(
  'model.versions',
  `select ${VIEW} from model_version v join model t on t.id = v.model_id left join users u on u.id = v.user_id
    where v.model_id = :modelId order by v.version desc offset :skip limit :limit`,
);

/** The versions of a record, the newest first. */
export const listVersions = (sql: Sql, modelId: string, page: { skip: number; limit: number }) =>
  sql.rows(LIST, { modelId, ...page });

const READ = statement<ModelVersionView, CallerParams & { versionId: string }>(
  'model.version',
  `select ${VIEW} from model_version v join model t on t.id = v.model_id left join users u on u.id = v.user_id
    where v.id = :versionId and ${CAN_WRITE}`,
);

/** One version of a record that the caller may change. */
export async function readVersion(sql: Sql, caller: Caller, versionId: string) {
  const [row] = await sql.rows(READ, { ...callerOf(caller), versionId });
  return row;
}

const CURRENT = statement<{ id: string }, { modelId: string }>(
  'model.current_version',
  'select v.id from model_version v join model t on t.id = v.model_id and t.version = v.version where t.id = :modelId',
);

/** The id of the version in force. */
export async function readCurrent(sql: Sql, modelId: string): Promise<string | undefined> {
  const [row] = await sql.rows(CURRENT, { modelId });
  return row?.id;
}

const REMOVE = statement<{ id: string }, { versionId: string }>(
  'model.remove_version',
  `delete from model_version v using model t
    where v.id = :versionId and t.id = v.model_id and t.version <> v.version returning v.id`,
);

/** Deletes a version that is not in force; false for one that is. */
export const removeVersion = async (sql: Sql, versionId: string): Promise<boolean> =>
  (await sql.rows(REMOVE, { versionId })).length > 0;
