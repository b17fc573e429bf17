import type { Reach } from '../core/access.ts';
import { AppError } from '../core/errors.ts';
import type { Actor, Parts } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { readAccountNow } from './behalf.repository.ts';
import { toEndpoint } from './keys/keys.reach.ts';
import { requireKeyUse } from './keys/keys.use.ts';

/**
 * The account for which work goes on after its call has ended, with the role and the permissions that it has
 * now. Work that was begun with an API key keeps the restrictions of that key, and ends with it; the end of a
 * session does not end it.
 *
 * @param reach the paths that the work counts as
 * @throws unauthenticated for a deleted account, or a deleted or expired key; account_pending;
 *   api_key_forbidden; endpoint_forbidden
 */
export async function identifyLater(
  { sql, configs }: Pick<Parts, 'sql' | 'configs'>,
  { userId, keyId }: { userId: string; keyId: string | null },
  reach: Reach,
): Promise<Actor> {
  const account = await readAccountNow(sql, userId, keyId);
  if (!account || account.key_id !== keyId) throw new AppError('unauthenticated');
  const { id, role, name, email, granted, expires_at: expiresAt } = account;
  if (role === 'pending') throw new AppError('account_pending');
  const actor: Actor = { id, role, name, email, sessionId: null, keyId, granted, expiresAt };
  if (keyId === null) return actor;
  if (expiresAt !== null && expiresAt <= nowSeconds()) throw new AppError('unauthenticated');
  await requireKeyUse(configs, actor, account.allowed_endpoints?.map(toEndpoint) ?? null, () => reach);
  return actor;
}
