import type { Secret } from '../core/keys.ts';
import { renew } from '../core/seal.ts';
import { type Sql, statement } from '../database/sql.ts';
import { mapSecrets } from './configs.secrets.ts';
import { SEALED, SEALED_FOR } from './configs.store.ts';

type Tree = Record<string, unknown>;

const TABLES = ['config', 'config_history'].map((table) => ({
  read: statement<{ key: string; data: Tree }>(
    `reseal.${table}.read`,
    `select id::text as key, data from ${table}`,
  ),
  write: statement(
    `reseal.${table}.write`,
    `update ${table} set data = $3::jsonb where id::text = $1 and data = $2::jsonb`,
  ),
}));

/** Seals the secrets of the configuration and of its history with the secret in use. Returns how many an older one had sealed. */
export async function resealConfigs(sql: Sql, secret: Secret): Promise<number> {
  let count = 0;
  for (const { read, write } of TABLES) {
    for (const { key, data } of await sql.rows(read, [])) {
      let inRow = 0;
      const renewed = mapSecrets(data, (text) => {
        const sealed = text.startsWith(SEALED) ? renew(secret, text.slice(SEALED.length), SEALED_FOR) : null;
        if (sealed === null) return text;
        inRow += 1;
        return SEALED + sealed;
      });
      if (inRow > 0) await sql.rows(write, [key, JSON.stringify(data), JSON.stringify(renewed)]);
      count += inRow;
    }
  }
  return count;
}
