import { statement } from '../database/sql.ts';
import { NOW } from '../members/members.repository.ts';

export const INSERT = statement<{ id: string }>(
  'channel.insert',
  `insert into channel (id, user_id, type, name, description, is_private, data, meta, created_at, updated_at, dm_key)
   values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, ${NOW}, ${NOW}, $9)
   on conflict (dm_key) do nothing returning id`,
);

export const BY_KEY = statement<{ id: string }>('channel.by_key', 'select id from channel where dm_key = $1');
