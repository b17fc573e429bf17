import * as client from 'openid-client';
import { AppError } from '../../core/errors.ts';
import { derivedScope, type Scope } from '../../core/scope.ts';
import type { UserView } from '../../users/users.schema.ts';
import type { SessionUser } from '../auth.schema.ts';
import { noteFailure } from '../auth.service.ts';
import { startSession } from '../auth.start.ts';
import { addProviderSession } from '../identities/identities.repository.ts';
import { admitPerson } from '../identities/identities.service.ts';
import type { Attempt as Trial } from '../limits/limits.ts';
import { ATTEMPT_SECONDS, openAttempt, sealAttempt } from './oauth.attempt.ts';
import { claimedEmail, readPerson } from './oauth.claims.ts';
import type { Claims, Provider } from './oauth.provider.ts';

/** @throws not_found */
function findProvider(scope: Scope<null>, id: string): Provider {
  const provider = scope.oauth.providers.get(id);
  if (!provider) throw new AppError('not_found', { detail: 'There is no such provider here.' });
  return provider;
}

/**
 * The address of this service for browsers: the configured one, else the origin of the request. No slash at
 * the end.
 */
const baseOf = (scope: Scope<null>, origin: string): string =>
  (scope.configs.current.webui.url || origin).replace(/\/+$/, '');

/**
 * Starts a sign-in at a provider.
 *
 * @param origin the origin at which the browser reached this service
 * @returns the address for the browser, and an encrypted, authenticated attempt that the browser stores
 * @throws not_found, upstream_failed, upstream_timeout
 */
export async function beginSignIn(
  scope: Scope<null>,
  input: { provider: string; origin: string },
): Promise<{ url: string; attempt: string }> {
  const provider = findProvider(scope, input.provider);
  // A Host header may hold more than a host.
  const origin = URL.parse(input.origin)?.origin;
  if (origin === undefined) throw new AppError('bad_request', { detail: 'The Host header is wrong.' });
  const redirectUri = `${baseOf(scope, origin)}/oauth/${provider.id}/callback`;
  const proof = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  };
  const url = await provider.authorize(redirectUri, proof);
  const expiresAt = Date.now() + ATTEMPT_SECONDS * 1000;
  const attempt = { ...proof, provider: provider.id, redirectUri, expiresAt };
  return { url: url.href, attempt: sealAttempt(scope.secret, attempt) };
}

/**
 * Completes a sign-in that this browser started, and starts its session.
 *
 * @param input the attempt that the browser stored, and the query of the callback
 * @throws rate_limited, oauth_failed, forbidden, signup_disabled, email_taken, upstream_failed,
 *   upstream_timeout
 */
export async function endSignIn(
  scope: Scope<null>,
  input: { provider: string; attempt: string; query: string },
): Promise<SessionUser> {
  const provider = findProvider(scope, input.provider);
  const attempt = openAttempt(scope.secret, input.attempt, provider.id);
  if (!attempt) {
    throw new AppError('oauth_failed', {
      detail: 'This sign-in was begun elsewhere, or too long ago. Begin again.',
    });
  }
  // Each attempt sends a request to the provider, so attempts are limited by network address.
  const trial = await scope.signinLimit.begin(scope.request);
  const callback = new URL(attempt.redirectUri);
  callback.search = input.query;
  const claims = await asking(trial, () => provider.identify(callback, attempt));
  const { enable_signup } = scope.configs.current.oauth;
  const session = await enter(scope, provider, claims, { mayCreate: enable_signup });
  await trial.giveBack();
  return session;
}

/**
 * Signs in a program that got an access token at a provider as this client. Sets no cookie. A person without
 * an account must first sign in with a browser.
 *
 * @throws signin_disabled, not_found, rate_limited, oauth_failed, forbidden, email_taken, upstream_failed,
 *   upstream_timeout
 */
export async function exchangeToken(
  scope: Scope<null>,
  input: { provider: string; token: string },
): Promise<SessionUser> {
  if (!scope.oauth.mayExchange) {
    throw new AppError('signin_disabled', { detail: 'Token exchange is switched off.' });
  }
  const provider = findProvider(scope, input.provider);
  const trial = await scope.signinLimit.begin(scope.request);
  const claims = await asking(trial, () => provider.exchange(input.token));
  const withoutCookies = derivedScope(scope, { actor: null, reply: { setSession: () => {} } });
  const session = await enter(withoutCookies, provider, claims, { mayCreate: false }).catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'signup_disabled') throw error;
    throw new AppError('forbidden', { detail: 'You have no account here yet. Sign in by a browser first.' });
  });
  await trial.giveBack();
  return session;
}

/** An unavailable provider does not count as a failed attempt. */
async function asking<T>(trial: Trial, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAway = error instanceof AppError && /^upstream_/.test(error.code);
    if (isAway) await trial.giveBack();
    throw error;
  }
}

/** Starts the session of the person in the claims, in that person's account. */
async function enter(
  scope: Scope<null>,
  provider: Provider,
  claims: Claims,
  rule: { mayCreate: boolean },
): Promise<SessionUser> {
  const user = await admit(scope, provider, claims, rule);
  return startSession(scope, user, {
    method: 'oauth',
    note: (sql, sessionId) => addProviderSession(sql, sessionId, claims, claims.sid),
  });
}

/** The account of the person in the claims. A refusal is written to the audit log, as a wrong password is. */
async function admit(
  scope: Scope<null>,
  provider: Provider,
  claims: Claims,
  { mayCreate }: { mayCreate: boolean },
): Promise<UserView> {
  const { merge_accounts_by_email, ...rules } = scope.configs.current.oauth;
  try {
    return await admitPerson(scope, readPerson(scope, provider, claims), {
      mayCreate,
      mayMerge: merge_accounts_by_email,
      update: {
        name: rules.update_name_on_login,
        email: rules.update_email_on_login,
        picture: rules.update_picture_on_login,
      },
      groups: { source: 'oauth', create: rules.enable_group_creation },
    });
  } catch (error) {
    if (error instanceof AppError) await noteFailure(scope, { email: claimedEmail(claims), method: 'oauth' });
    throw error;
  }
}

/** Where a browser goes after a successful or failed sign-in. The address does not depend on the request. */
export function afterSignIn(scope: Scope<null>, failure?: AppError): string {
  const page = `${baseOf(scope, '')}/auth`;
  return failure ? `${page}?${new URLSearchParams({ error: failure.message })}` : page;
}
