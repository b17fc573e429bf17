import { LRUCache } from 'lru-cache';
import type { ConfigStore } from '../configs/configs.store.ts';
import { may } from '../configs/settings/permissions.ts';
import { AppError } from '../core/errors.ts';
import { networkCaller, runCall } from '../core/limits/calls.ts';
import type { Actor, Authenticate } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { requireReach, toEndpoint } from './keys/keys.reach.ts';
import { findKey } from './keys/keys.repository.ts';
import { hashKey, isKey } from './keys/keys.text.ts';
import { isEnded } from './revocation.ts';
import { openSessions } from './sessions/session.ts';
import { createTokens, type Tokens } from './sessions/tokens.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly tokens: Tokens;
  }
}

/**
 * How long a verified credential is cached without a query. A revocation removes it from the cache at once.
 */
const TRUST_MS = 30_000;
const MAX_TRUSTED = 50_000;

/** A credential that was verified. */
interface Verified {
  actor: Actor;
  /** The endpoints in the API key's own list; null if the key has no list. */
  endpoints: readonly (readonly string[])[] | null;
}

export interface Authenticator {
  tokens: Tokens;
  authenticate: Authenticate;
}

/**
 * Verifies tokens and API keys and returns their actor. A credential verified in the last seconds needs no
 * statement and no signature check.
 *
 * @param onSeen called each time a credential is accepted
 */
export function createAuthenticator(options: {
  sql: Sql;
  bus: Bus;
  configs: ConfigStore;
  secret: string;
  onSeen(actor: Actor): void;
}): Authenticator {
  const { sql, bus, configs, secret, onSeen } = options;
  const tokens = createTokens(secret);
  // Lucia extends a session that is read in the second half of its lifetime. Here a session ends with its
  // token.
  const sessions = openSessions(sql);
  /**
   * The cached tokens of each user. Any user can cause a revocation notice, so a notice must not scan the
   * whole cache.
   */
  const tokensOf = new Map<string, Set<string>>();
  const trusted = new LRUCache<string, Verified>({
    max: MAX_TRUSTED,
    ttl: TRUST_MS,
    dispose({ actor }, token) {
      const tokens = tokensOf.get(actor.id);
      tokens?.delete(token);
      if (tokens?.size === 0) tokensOf.delete(actor.id);
    },
  });
  // Incremented by each revocation. A result requested before a revocation must not be cached after it.
  let revocations = 0;

  const trust = (token: string, verified: Verified) => {
    trusted.set(token, verified);
    const { id } = verified.actor;
    tokensOf.set(id, (tokensOf.get(id) ?? new Set()).add(token));
  };
  const forget = (userId: string, isMeant: (actor: Actor) => boolean = () => true) => {
    revocations += 1;
    for (const token of [...(tokensOf.get(userId) ?? [])]) {
      const known = trusted.peek(token);
      if (!known || isMeant(known.actor)) trusted.delete(token);
    }
  };
  const forgetAll = () => {
    revocations += 1;
    trusted.clear();
  };
  bus.subscribe('auth.revoked', (revocation) =>
    forget(revocation.userId, (actor) => isEnded(actor, revocation)),
  );
  bus.subscribe('auth.changed', ({ userId }) => forget(userId));
  bus.subscribe('groups.changed', ({ userIds }) => {
    if (userIds === null) forgetAll();
    else for (const id of userIds) forget(id);
  });
  bus.onGap(forgetAll);

  async function verifySession(token: string): Promise<Verified> {
    const claims = await tokens.verify(token);
    const { session, user } = await sessions.validateSession(claims.sessionId);
    if (!session || user.id !== claims.userId) throw new AppError('unauthenticated');
    const { id, role, name, email, granted } = user;
    const { expiresAt } = claims;
    const actor: Actor = { id, role, name, email, sessionId: session.id, keyId: null, granted, expiresAt };
    return { actor, endpoints: null };
  }

  async function verifyKey(token: string): Promise<Verified> {
    const key = await findKey(sql, hashKey(token));
    if (!key) throw new AppError('unauthenticated');
    const { id, role, name, email, key_id: keyId, granted, expires_at: expiresAt } = key;
    const actor: Actor = { id, role, name, email, sessionId: null, keyId, granted, expiresAt };
    return { actor, endpoints: key.allowed_endpoints?.map(toEndpoint) ?? null };
  }

  async function verify(token: string): Promise<Verified> {
    const asked = revocations;
    const verified = await (isKey(token) ? verifyKey(token) : verifySession(token));
    if (isExpired(verified.actor)) throw new AppError('unauthenticated');
    if (asked === revocations && bus.healthy) trust(token, verified);
    return verified;
  }

  const isExpired = ({ expiresAt }: Actor) => expiresAt !== null && expiresAt * 1000 <= Date.now();

  /** Checked on every call: the configuration may have changed since the credential was verified. */
  function admit({ actor, endpoints }: Verified, reach: Parameters<Authenticate>[2]): Actor | Promise<Actor> {
    if (actor.keyId !== null) {
      const { auth } = configs.current;
      const mayUse = auth.enable_api_keys && may({ configs, actor }, 'features.api_keys');
      if (!mayUse) throw new AppError('api_key_forbidden');
      const pending = reach && requireReach(auth.api_key, endpoints, reach);
      if (pending) return pending.then(() => accept(actor));
    }
    return accept(actor);
  }

  function accept(actor: Actor): Actor {
    onSeen(actor);
    return actor;
  }

  return {
    tokens,
    authenticate({ token }, { ip }, reach, identified) {
      const admitAs = (verified: Verified) => {
        identified?.(verified.actor);
        return admit(verified, reach);
      };
      const known = bus.healthy ? trusted.get(token) : undefined;
      if (known && !isExpired(known.actor)) return admitAs(known);
      // The account is unknown until the database answers. Until then the call counts for the network
      // address.
      return runCall(networkCaller(ip), {}, () => verify(token)).then(admitAs);
    },
  };
}
