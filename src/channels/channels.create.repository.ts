import { NOW } from '../channelbase/channels.access.repository.ts';
import { statement } from '../database/sql.ts';

interface InsertParams {
  id: string;
  userId: string;
  type: 'group' | 'dm' | null;
  name: string | undefined;
  description: string | null;
  isPrivate: boolean | null;
  data: string | null;
  meta: string | null;
  key: string | null;
}

export const INSERT = statement<{ id: string }, InsertParams>(
  'channel.insert',
  `insert into channel (id, user_id, type, name, description, is_private, data, meta, created_at, updated_at, dm_key)
   values (:id, :userId, :type, :name, :description, :isPrivate, :data::jsonb, :meta::jsonb, ${NOW}, ${NOW}, :key)
   on conflict (dm_key) do nothing returning id`,
);

export const BY_KEY = statement<{ id: string }, { key: string | null }>(
  'channel.by_key',
  'select id from channel where dm_key = :key',
);
