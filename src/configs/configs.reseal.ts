import type { Secret } from '../core/secrets/keys.ts';
import { mapSecrets } from '../core/secrets/masks.ts';
import { renew } from '../core/secrets/seal.ts';
import { emptyTally, type Tally } from '../database/reseal.ts';
import type { Sql } from '../database/sql.ts';
import { TABLES } from './configs.reseal.repository.ts';
import { SEALED, SEALED_FOR } from './configs.store.ts';

/** Seals the secrets of the configuration and of its history with the current secret where an older secret has sealed them. */
export async function resealConfigs(sql: Sql, secret: Secret): Promise<Tally> {
  const tally = emptyTally();
  for (const { read, write } of TABLES) {
    for (const { key, data } of await sql.rows(read)) {
      const before = tally.renewed;
      const renewed = mapSecrets(data, (text) => {
        if (!text.startsWith(SEALED)) return text;
        const renewal = renew(secret, text.slice(SEALED.length), SEALED_FOR);
        tally[renewal.state] += 1;
        return renewal.state === 'renewed' ? SEALED + renewal.sealed : text;
      });
      if (tally.renewed > before)
        await sql.rows(write, { key, before: JSON.stringify(data), after: JSON.stringify(renewed) });
    }
  }
  return tally;
}
