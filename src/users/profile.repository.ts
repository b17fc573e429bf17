import { statement } from '../database/sql.ts';

export type Notes = Record<string, unknown> | null;

export const COLUMNS =
  'name, profile_image_url, bio, gender, date_of_birth, timezone, status_emoji, status_message, status_expires_at';

export const CHANGE = statement<never, { userId: string; changes: string; at: number }>(
  'users.profile',
  `update users u set (${COLUMNS}, updated_at) = (select ${COLUMNS}, :at::int from jsonb_populate_record(u, :changes::jsonb))
    where u.id = :userId`,
);

export const READ = statement<{ info: Notes }, { userId: string }>(
  'users.notes',
  'select info from users where id = :userId',
);

export const MERGE = statement<{ info: Notes }, { userId: string; changes: string; maxBytes: number }>(
  'users.merge_notes',
  `update users set info = coalesce(info, '{}') || :changes::jsonb
    where id = :userId and octet_length((coalesce(info, '{}') || :changes::jsonb)::text) <= :maxBytes returning info`,
);
