import type { Secret } from '../../core/secrets/keys.ts';
import { resealColumn, type Tally } from '../../database/reseal.ts';
import type { Sql } from '../../database/sql.ts';
import { sealedForValves } from './valves.service.ts';

/** Seals the valves of tools and people with the current secret where an older secret has sealed them. */
export async function resealValves(sql: Sql, secret: Secret): Promise<Tally[]> {
  const common = { column: 'valves', sealedFor: sealedForValves };
  const key = "tool_id || ':user:' || user_id";
  return [
    await resealColumn(sql, secret, { ...common, table: 'tool', key: 'id' }),
    await resealColumn(sql, secret, { ...common, table: 'tool_user_valves', key }),
  ];
}
