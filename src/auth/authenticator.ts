import { LRUCache } from 'lru-cache';
import type { ConfigStore } from '../configs/configs.store.ts';
import { AppError } from '../core/errors.ts';
import { networkCaller, runCall } from '../core/limits/calls.ts';
import type { Actor, Authenticate } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { toEndpoint } from './keys/keys.reach.ts';
import { findKey } from './keys/keys.repository.ts';
import { hashKey, isKey } from './keys/keys.text.ts';
import { requireKeyUse } from './keys/keys.use.ts';
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
/** How long a user's credentials are not cached when one of them is about to end: longer than the write that ends it. */
const DOUBT_MS = 10_000;

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

interface AuthenticatorOptions {
  sql: Sql;
  bus: Bus;
  configs: ConfigStore;
  secret: string;
  /** Is called each time a credential is accepted. */
  onSeen(actor: Actor): void;
}

/**
 * Verifies tokens and API keys and returns their actor. A credential verified in the last seconds needs no
 * statement and no signature check.
 */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator => new Verifier(options);

const isExpired = ({ expiresAt }: Actor) => expiresAt !== null && expiresAt * 1000 <= Date.now();

/** The credentials that were verified in the last seconds, without those that a revocation has named. */
class TrustedCredentials {
  /**
   * The cached tokens of each user. Any user can cause a revocation notice, so a notice must not scan the
   * whole cache.
   */
  readonly #tokensOf = new Map<string, Set<string>>();
  readonly #cache = new LRUCache<string, Verified>({
    // Unlike `max`, takes memory only for what is there.
    maxSize: MAX_TRUSTED,
    sizeCalculation: () => 1,
    ttl: TRUST_MS,
    dispose: ({ actor }, token) => {
      const tokens = this.#tokensOf.get(actor.id);
      tokens?.delete(token);
      if (tokens?.size === 0) this.#tokensOf.delete(actor.id);
    },
  });
  readonly #doubted = new LRUCache<string, true>({
    maxSize: 5_000,
    sizeCalculation: () => 1,
    ttl: DOUBT_MS,
  });
  #revocations = 0;

  /** Incremented by each revocation. A result requested before a revocation must not be cached after it. */
  get revocations(): number {
    return this.#revocations;
  }

  follow(bus: Bus): void {
    bus.subscribe('auth.ending', ({ userId }) => {
      this.#doubted.set(userId, true);
      this.#forget(userId);
    });
    bus.subscribe('auth.revoked', (revocation) => {
      const { userId, sessionId, keyId } = revocation;
      // All that could end has ended. Otherwise the end of another credential may still be written.
      if (sessionId === null && keyId === undefined) this.#doubted.delete(userId);
      this.#forget(userId, (actor) => isEnded(actor, revocation));
    });
    bus.subscribe('auth.changed', ({ userId }) => this.#forget(userId));
    bus.subscribe('groups.changed', ({ userIds }) => {
      if (userIds === null) this.#forgetAll();
      else for (const id of userIds) this.#forget(id);
    });
    bus.onGap(() => this.#forgetAll());
  }

  get(token: string): Verified | undefined {
    return this.#cache.get(token);
  }

  set(token: string, verified: Verified): void {
    const { id } = verified.actor;
    if (this.#doubted.has(id)) return;
    this.#cache.set(token, verified);
    this.#tokensOf.set(id, (this.#tokensOf.get(id) ?? new Set()).add(token));
  }

  #forget(userId: string, isMeant: (actor: Actor) => boolean = () => true): void {
    this.#revocations += 1;
    for (const token of [...(this.#tokensOf.get(userId) ?? [])]) {
      const known = this.#cache.peek(token);
      if (!known || isMeant(known.actor)) this.#cache.delete(token);
    }
  }

  #forgetAll(): void {
    this.#revocations += 1;
    this.#cache.clear();
  }
}

class Verifier implements Authenticator {
  readonly tokens: Tokens;
  readonly #options: AuthenticatorOptions;
  // Lucia extends a session that is read in the second half of its lifetime. Here a session ends with its
  // token.
  readonly #sessions: ReturnType<typeof openSessions>;
  readonly #trusted = new TrustedCredentials();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.tokens = createTokens(options.secret);
    this.#sessions = openSessions(options.sql);
    this.#trusted.follow(options.bus);
  }

  readonly authenticate: Authenticate = ({ token }, { ip }, reach, identified) => {
    const admitAs = (verified: Verified) => {
      identified?.(verified.actor);
      return this.#admit(verified, reach);
    };
    const known = this.#options.bus.healthy ? this.#trusted.get(token) : undefined;
    if (known && !isExpired(known.actor)) return admitAs(known);
    // The account is unknown until the database answers. Until then the call counts for the network
    // address.
    return runCall(networkCaller(ip), {}, () => this.#verify(token)).then(admitAs);
  };

  async #verify(token: string): Promise<Verified> {
    const asked = this.#trusted.revocations;
    const verified = await (isKey(token) ? this.#verifyKey(token) : this.#verifySession(token));
    if (isExpired(verified.actor)) throw new AppError('unauthenticated');
    if (asked === this.#trusted.revocations && this.#options.bus.healthy) this.#trusted.set(token, verified);
    return verified;
  }

  async #verifySession(token: string): Promise<Verified> {
    const claims = await this.tokens.verify(token);
    const { session, user } = await this.#sessions.validateSession(claims.sessionId);
    if (!session || user.id !== claims.userId) throw new AppError('unauthenticated');
    const { id, role, name, email, granted } = user;
    const { expiresAt } = claims;
    const actor: Actor = { id, role, name, email, sessionId: session.id, keyId: null, granted, expiresAt };
    return { actor, endpoints: null };
  }

  async #verifyKey(token: string): Promise<Verified> {
    const key = await findKey(this.#options.sql, hashKey(token));
    if (!key) throw new AppError('unauthenticated');
    const { id, role, name, email, key_id: keyId, granted, expires_at: expiresAt } = key;
    const actor: Actor = { id, role, name, email, sessionId: null, keyId, granted, expiresAt };
    return { actor, endpoints: key.allowed_endpoints?.map(toEndpoint) ?? null };
  }

  #admit({ actor, endpoints }: Verified, reach: Parameters<Authenticate>[2]): Actor | Promise<Actor> {
    const pending =
      actor.keyId === null ? undefined : requireKeyUse(this.#options.configs, actor, endpoints, reach);
    return pending ? pending.then(() => this.#accept(actor)) : this.#accept(actor);
  }

  #accept(actor: Actor): Actor {
    this.#options.onSeen(actor);
    return actor;
  }
}
