import { statement } from '../database/sql.ts';
import type { Tree } from './settings/configs.settings.ts';

export const TABLES = ['config', 'config_history'].map((table) => ({
  read: statement<{ key: string; data: Tree }>(
    `reseal.${table}.read`,
    `select id::text as key, data from ${table}`,
  ),
  write: statement<never, { key: string; before: string; after: string }>(
    `reseal.${table}.write`,
    `update ${table} set data = :after::jsonb where id::text = :key and data = :before::jsonb`,
  ),
}));
