import { statement } from '../database/sql.ts';
import type { Tree } from './settings/configs.settings.ts';

export const TABLES = ['config', 'config_history'].map((table) => ({
  read: statement<{ key: string; data: Tree }>(
    `reseal.${table}.read`,
    `select id::text as key, data from ${table}`,
  ),
  write: statement(
    `reseal.${table}.write`,
    `update ${table} set data = $3::jsonb where id::text = $1 and data = $2::jsonb`,
  ),
}));
