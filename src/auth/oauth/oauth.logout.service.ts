import { setTimeout } from 'node:timers/promises';
import { record } from '../../audit/audit.record.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { transaction } from '../../database/transaction.ts';
import { endProviderSessions } from '../identities/identities.repository.ts';
import type { Logout } from './oauth.provider.ts';

/**
 * Ends the sessions that a provider reports as ended (OpenID Connect Back-Channel Logout 1.0), and closes
 * their sockets.
 *
 * @throws oauth_failed if no configured provider issued the token for this client, or the token is not valid
 *   now
 */
export async function endByProvider(scope: Scope<null>, token: string): Promise<void> {
  const logout = await readLogout(scope, token);
  if (!logout) throw new AppError('oauth_failed', { detail: 'No provider here has made that token.' });
  const ended = await transaction(scope, async (tx) => {
    const sessions = await endProviderSessions(tx, logout);
    for (const userId of new Set(sessions.map(({ user_id }) => user_id))) {
      await scope.bus.tell('auth.ending', { userId });
    }
    const entries = sessions.map(({ id, user_id }) => ({
      action: 'session.end',
      target: { type: 'session', id },
      before: { user_id, provider: logout.issuer },
    }));
    await record(scope, tx, ...entries);
    return sessions;
  });
  for (const { id, user_id } of ended) {
    scope.bus.publish('auth.revoked', { userId: user_id, sessionId: id });
  }
}

async function readLogout(scope: Scope<null>, token: string): Promise<Logout | null> {
  for (const provider of scope.oauth.providers.values()) {
    const logout = await provider.readLogout?.(token);
    if (logout) return logout;
  }
  return null;
}

/** How long a sign-out waits for the discovery document of a provider. */
const PATIENCE_MS = 2_000;

/**
 * Where a browser ends its session at a provider (OpenID Connect RP-Initiated Logout 1.0). Undefined if there
 * is no such address, or the provider does not answer in time.
 */
export async function findLogout(
  scope: Pick<Scope, 'configs' | 'oauth'>,
  issuer: string,
): Promise<string | undefined> {
  const { url } = scope.configs.current.webui;
  const backTo = url === '' ? null : `${url.replace(/\/+$/, '')}/auth`;
  const asked = [...scope.oauth.providers.values()].map(async ({ endSession }) => {
    const address = await endSession?.(issuer, backTo);
    return address ? address.href : Promise.reject(new Error('This provider has no such place for it.'));
  });
  // The first address found is used, without waiting for the other providers, which may be down.
  const found = Promise.any(asked).catch(() => undefined);
  return Promise.race([found, setTimeout(PATIENCE_MS, undefined, { ref: false })]);
}
