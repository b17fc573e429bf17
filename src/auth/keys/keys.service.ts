import { v7 as uuidv7 } from 'uuid';
import { record } from '../../audit/audit.record.ts';
import { may } from '../../configs/settings/permissions.ts';
import { AppError, invalid } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import type { Sql } from '../../database/sql.ts';
import { transaction } from '../../database/transaction.ts';
import { deleteKey, deleteNamedKey, findNamedKey, insertKey, listKeys, lockKeys } from './keys.repository.ts';
import type { ApiKeyView, NewKeyInput } from './keys.schema.ts';
import { generateKey } from './keys.text.ts';

/** How many keys an account may have. */
const MAX_KEYS = 100;
/** The name of the key for clients that know only one key. */
const DEFAULT = 'default';

export const listApiKeys = (scope: Scope): Promise<ApiKeyView[]> => listKeys(scope.sql, scope.actor.id);

/** The keys of another account; empty if the account does not exist. */
export const listApiKeysOf = (scope: Scope, userId: string): Promise<ApiKeyView[]> =>
  listKeys(scope.sql, userId);

/** @throws api_key_forbidden */
function requireKeys(scope: Scope): void {
  if (scope.configs.current.auth.enable_api_keys && may(scope, 'features.api_keys')) return;
  throw new AppError('api_key_forbidden', {
    detail: 'API key creation is not allowed in the environment.',
  });
}

/**
 * Creates a key. The key is shown only in this answer.
 *
 * @throws api_key_forbidden, name_taken, validation for a time in the past, bad_request for too many keys
 */
export async function createApiKey(
  scope: Scope,
  input: NewKeyInput,
): Promise<ApiKeyView & { api_key: string }> {
  requireKeys(scope);
  if (input.expires_at != null && input.expires_at <= nowSeconds()) {
    throw invalid('expires_at', 'must be in the future, in Unix seconds');
  }
  return transaction(scope, (tx) => store(scope, tx, input));
}

async function store(scope: Scope, sql: Sql, input: NewKeyInput): Promise<ApiKeyView & { api_key: string }> {
  if ((await lockKeys(sql, scope.actor.id)) >= MAX_KEYS) {
    throw new AppError('bad_request', {
      detail: `You have ${MAX_KEYS} API keys, the most that one may have.`,
    });
  }
  const { key, hash, tail } = generateKey();
  const view = await insertKey(sql, {
    id: uuidv7(),
    userId: scope.actor.id,
    name: input.name,
    hash,
    tail,
    allowedEndpoints: input.allowed_endpoints ?? null,
    expiresAt: input.expires_at ?? null,
    createdAt: nowSeconds(),
  });
  if (!view)
    throw new AppError('name_taken', { detail: `You have an API key named "${input.name}" already.` });
  await record(scope, sql, {
    action: 'api_key.create',
    target: { type: 'api_key', id: view.id },
    after: view,
  });
  return { ...view, api_key: key };
}

/**
 * Revokes a key and closes the sockets that use it.
 *
 * @param userId the owner
 * @throws not_found
 */
export async function deleteApiKey(
  scope: Scope,
  { userId, id }: { userId: string; id: string },
): Promise<true> {
  await scope.bus.tell('auth.ending', { userId });
  const deleted = await transaction(scope, async (tx) =>
    noteDeleted(scope, tx, userId, await deleteKey(tx, userId, id)),
  );
  if (!deleted) throw new AppError('not_found', { detail: 'There is no such API key.' });
  announce(scope, userId, deleted);
  return true;
}

async function noteDeleted(scope: Scope, sql: Sql, userId: string, key: ApiKeyView | undefined) {
  if (!key) return undefined;
  await record(scope, sql, {
    action: 'api_key.delete',
    target: { type: 'api_key', id: key.id },
    before: { ...key, user_id: userId },
  });
  return key;
}

const announce = (scope: Scope, userId: string, { id }: ApiKeyView) =>
  scope.bus.publish('auth.revoked', { userId, sessionId: null, keyId: id });

/**
 * The key named `default` can never be shown again, because only its hash is stored. Clients copy this answer
 * as the key, so a masked key would give them a key that does not work.
 *
 * @throws not_found always
 */
export async function getDefaultKey(scope: Scope): Promise<never> {
  const key = await findNamedKey(scope.sql, scope.actor.id, DEFAULT);
  const detail = key
    ? `Your API key "default" (${key.masked}) was shown when it was made, and cannot be shown again. Make a new one.`
    : 'You have no API key named "default".';
  throw new AppError('not_found', { detail });
}

/** Creates the key named `default` and replaces an existing one. @throws api_key_forbidden */
export async function replaceDefaultKey(scope: Scope): Promise<{ api_key: string }> {
  requireKeys(scope);
  const { id: userId } = scope.actor;
  await scope.bus.tell('auth.ending', { userId });
  const { created, former } = await transaction(scope, async (tx) => {
    await lockKeys(tx, userId);
    const former = await noteDeleted(scope, tx, userId, await deleteNamedKey(tx, userId, DEFAULT));
    return { created: await store(scope, tx, { name: DEFAULT }), former };
  });
  if (former) announce(scope, userId, former);
  return { api_key: created.api_key };
}

/** Revokes the key named `default`. Returns true even if there is none. */
export async function deleteDefaultKey(scope: Scope): Promise<true> {
  const { id: userId } = scope.actor;
  await scope.bus.tell('auth.ending', { userId });
  const deleted = await transaction(scope, async (tx) =>
    noteDeleted(scope, tx, userId, await deleteNamedKey(tx, userId, DEFAULT)),
  );
  if (deleted) announce(scope, userId, deleted);
  return true;
}
