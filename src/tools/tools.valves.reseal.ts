import type { Secret } from '../core/keys.ts';
import { resealColumn } from '../database/reseal.ts';
import type { Sql } from '../database/sql.ts';
import { sealedForValves } from './tools.valves.service.ts';

/** Seals the valves of tools and people with the secret in use. Returns how many an older one had sealed. */
export async function resealValves(sql: Sql, secret: Secret): Promise<number> {
  const common = { column: 'valves', sealedFor: sealedForValves };
  const ofTools = await resealColumn(sql, secret, { ...common, table: 'tool', key: 'id' });
  const key = "tool_id || ':user:' || user_id";
  return ofTools + (await resealColumn(sql, secret, { ...common, table: 'tool_user_valves', key }));
}
