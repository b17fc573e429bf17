import { grantsOf } from '../../access/access.repository.ts';
import { type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { CAN_WRITE } from '../models.policy.ts';
import type { ModelExport } from './transfer.schema.ts';

const EXPORT = statement<ModelExport & { picture: string | null }, CallerParams & { ids: string[] | null }>(
  'model.export',
  `select t.id, t.user_id, t.base_model_id, t.name, t.params, t.meta, t.picture, t.is_active, t.created_at, t.updated_at,
       ${grantsOf('model', 't.id')} as access_grants
     from model t where (:ids::text[] is null or t.id = any(:ids)) and ${CAN_WRITE} order by t.id`,
);

/** The records that the caller may change; with ids, those of these. */
export async function exportModels(sql: Sql, caller: Caller, ids: string[] | null): Promise<ModelExport[]> {
  const rows = await sql.rows(EXPORT, { ...callerOf(caller), ids });
  return rows.map(({ picture, ...model }) =>
    picture === null ? model : { ...model, meta: { ...model.meta, profile_image_url: picture } },
  );
}

const OTHERS = statement<{ id: string; name: string }, { ids: string[] }>(
  'model.others',
  'select t.id, t.name from model t where not t.id = any(:ids::text[]) order by t.id for update',
);

/** The records without these ids, locked. */
export const lockOthers = (sql: Sql, ids: string[]) => sql.rows(OTHERS, { ids });
