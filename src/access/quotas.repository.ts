import { type Sql, statement } from '../database/sql.ts';
import { groupsOf } from '../groups/groups.policy.ts';

const GROUPS = statement<{ group_id: string }, { userId: string }>(
  'quota.groups',
  `select distinct group_id from (${groupsOf(':userId')}) mine`,
);

/** The ids of the groups that a person is in. */
export async function listGroupIds(sql: Sql, userId: string): Promise<string[]> {
  const rows = await sql.rows(GROUPS, { userId });
  return rows.map(({ group_id }) => group_id);
}

const STORED = statement<{ bytes: number }, { userId: string }>(
  'quota.stored',
  `select ((select coalesce(sum(size + coalesce(octet_length(edited_text), 0)), 0) from file where user_id = :userId)
         + (select coalesce(sum(octet_length(content) + coalesce(pg_column_size(data), 0) + coalesce(pg_column_size(meta), 0)), 0)
              from message where user_id = :userId)
         + (select coalesce(sum(octet_length(v.content)), 0) from tool_version v join tool t on t.id = v.tool_id
             where t.user_id = :userId)
         + (select coalesce(sum(pg_column_size(meta)), 0) from tool where user_id = :userId)
         + (select coalesce(sum(octet_length(v.snapshot::text)), 0) from model_version v join model m on m.id = v.model_id
             where m.user_id = :userId)
         + (select coalesce(sum(octet_length(picture)), 0) from model where user_id = :userId)
         + coalesce((select octet_length(profile_image_url) from users
             where id = :userId and profile_image_url like 'data:%'), 0))::float8 as bytes`,
);

/** The bytes that the files, messages, tools, models and picture of a person take, by the indexes on their owner. */
export async function readStoredBytes(sql: Sql, userId: string): Promise<number> {
  const [row] = await sql.rows(STORED, { userId });
  return row?.bytes ?? 0;
}
