import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.ts';
import type { Actor, Credentials } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { openSessions } from './session.ts';
import { createTokens, type Tokens } from './tokens.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** Sessions ended before their time: one, or all of a user. */
    'auth.revoked': { userId: string; sessionId: string | null };
    /** A user's name, address or role is another now; their sessions go on. */
    'auth.changed': { userId: string };
  }
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly tokens: Tokens;
  }
}

/** How long a verified token is trusted without asking the database. A revocation drops it at once. */
const TRUST_MS = 30_000;
const MAX_TRUSTED = 50_000;

export interface Authenticator {
  tokens: Tokens;
  authenticate(credentials: Credentials): Actor | Promise<Actor>;
}

/**
 * Turns tokens into who they belong to. A token that was verified in the last seconds costs no statement and no
 * signature check.
 *
 * @param onSeen is told each time that a user's credential was accepted
 */
export function createAuthenticator(options: {
  sql: Sql;
  bus: Bus;
  secret: string;
  onSeen(userId: string): void;
}): Authenticator {
  const { sql, bus, secret, onSeen } = options;
  const tokens = createTokens(secret);
  // Lucia extends a session that is read in the second half of its lifetime. Ours end when their token does.
  const sessions = openSessions(sql, 0);
  const trusted = new LRUCache<string, Actor>({ max: MAX_TRUSTED, ttl: TRUST_MS });
  // Grows with each revocation: an answer that was asked for before one must not be kept after it.
  let revocations = 0;

  const forget = (matches: (actor: Actor) => boolean) => {
    revocations += 1;
    for (const [token, actor] of trusted.entries()) if (matches(actor)) trusted.delete(token);
  };
  bus.subscribe('auth.revoked', ({ userId, sessionId }) =>
    forget((actor) => actor.id === userId && (sessionId === null || actor.sessionId === sessionId)),
  );
  bus.subscribe('auth.changed', ({ userId }) => forget((actor) => actor.id === userId));
  bus.onGap(() => {
    revocations += 1;
    trusted.clear();
  });

  async function verify(token: string): Promise<Actor> {
    const asked = revocations;
    const claims = await tokens.verify(token);
    const { session, user } = await sessions.validateSession(claims.sessionId);
    if (!session || user.id !== claims.userId) throw new AppError('unauthenticated');
    const actor: Actor = {
      id: user.id,
      role: user.role,
      name: user.name,
      email: user.email,
      sessionId: session.id,
      expiresAt: claims.expiresAt,
    };
    if (asked === revocations && bus.healthy) trusted.set(token, actor);
    return actor;
  }

  const isExpired = ({ expiresAt }: Actor) => expiresAt !== null && expiresAt * 1000 <= Date.now();

  return {
    tokens,
    authenticate({ token }) {
      const known = bus.healthy ? trusted.get(token) : undefined;
      if (known && !isExpired(known)) {
        onSeen(known.id);
        return known;
      }
      return verify(token).then((actor) => {
        onSeen(actor.id);
        return actor;
      });
    },
  };
}
