import { statement } from '../database/sql.ts';

export type Notes = Record<string, unknown> | null;

export const COLUMNS =
  'name, profile_image_url, bio, gender, date_of_birth, timezone, status_emoji, status_message, status_expires_at';

export const CHANGE = statement(
  'users.profile',
  `update users u set (${COLUMNS}, updated_at) = (select ${COLUMNS}, $3::int from jsonb_populate_record(u, $2::jsonb))
    where u.id = $1`,
);

export const READ = statement<{ info: Notes }>('users.notes', 'select info from users where id = $1');

export const MERGE = statement<{ info: Notes }>(
  'users.merge_notes',
  `update users set info = coalesce(info, '{}') || $2::jsonb
    where id = $1 and octet_length((coalesce(info, '{}') || $2::jsonb)::text) <= $3 returning info`,
);
