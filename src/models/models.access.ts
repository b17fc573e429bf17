import type { Caller } from '../core/caller.ts';
import { AppError, invalid } from '../core/errors.ts';
import type { WithoutRow } from '../core/rules.ts';
import type { Role, Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { followChain, MOST_LINKS, mayUsePlain, noRecord, walk } from './models.chain.ts';
import { type ModelRow, readModel } from './models.repository.ts';
import { readLinks } from './models.resolve.repository.ts';

/**
 * The record, when the caller has that right on it.
 *
 * @throws model_not_found for an unknown record and one that the caller may not read, forbidden for one that they may only read
 */
export async function requireModel(scope: Scope, id: string, right: 'read' | 'write'): Promise<ModelRow> {
  const row = await readModel(scope.sql, scope.actor, id);
  if (!row?.can_read) throw new AppError('model_not_found');
  if (right === 'write' && !row.write_access) throw new AppError('forbidden');
  return row;
}

/**
 * Checks the base of a record. Administrators may name a base that does not exist yet.
 *
 * @throws validation for a base that the caller may not use, and one that leads back to the record
 */
export async function requireBase(scope: Scope, sql: Sql, id: string, base: string): Promise<void> {
  const records = await readLinks(sql, scope.actor, [base]);
  if (scope.actor.role !== 'admin' && !followChain(scope, base, (at) => records.get(at))) {
    throw invalid('base_model_id', 'names no model that you may use');
  }
  const leadsBack = [...records.values()].some(({ base_model_id }) => base_model_id === id);
  if (leadsBack) throw invalid('base_model_id', 'leads back to this model');
  if (records.size >= MOST_LINKS) {
    throw invalid('base_model_id', `has ${MOST_LINKS} models on the way to its provider`);
  }
}

/** Whether an account has a right to a provider model without a record; undefined when no connection offers the model. */
export function explainPlain({ configs, providers }: Scope, { role, id, right }: WithoutRow) {
  const provider = providers.model(id);
  if (!provider) return undefined;
  if (right === 'write') return { allowed: role === 'admin', detail: noRecord(id) };
  const allowed = mayUsePlain({ actor: { role }, configs, providers }, provider);
  return { allowed, detail: allowed ? 'All members may use the model.' : noRecord(id) };
}

/** Why an account cannot use a model that it may read: one of its bases is not open to the account, off or gone. */
export async function barredFrom(
  { sql, configs, providers }: Scope,
  account: Caller,
  id: string,
): Promise<string | undefined> {
  const records = await readLinks(sql, account, [id]);
  const actor = { role: account.role as Role };
  const way = walk({ actor, configs, providers }, id, (at) => records.get(at));
  return typeof way === 'string' ? way : undefined;
}
