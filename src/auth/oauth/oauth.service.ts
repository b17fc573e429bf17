import * as client from 'openid-client';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
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

/** The address of this service as browsers see it: what is configured, else where the browser asked. No slash at its end. */
const baseOf = (scope: Scope<null>, origin: string): string =>
  (scope.configs.current.webui.url || origin).replace(/\/+$/, '');

/**
 * Begins a sign-in at a provider.
 *
 * @param origin where the browser reached this service
 * @returns where the browser goes, and what it keeps meanwhile, which nobody can read or change
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
 * Ends a sign-in that this browser began, and starts its session.
 *
 * @param input what the browser kept, and the query that it came back with
 * @throws rate_limited, oauth_failed, forbidden, signup_disabled, email_taken, upstream_failed, upstream_timeout
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
  // Each asks the provider, and costs nobody else anything.
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
 * Signs in a program that got an access token at a provider as this client; sets no cookie. Whoever has no account yet signs in by
 * a browser first.
 *
 * @throws signin_disabled, not_found, rate_limited, oauth_failed, forbidden, email_taken, upstream_failed, upstream_timeout
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
  const withoutCookies = { ...scope, reply: { setSession: () => {} } };
  const session = await enter(withoutCookies, provider, claims, { mayCreate: false }).catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'signup_disabled') throw error;
    throw new AppError('forbidden', { detail: 'You have no account here yet. Sign in by a browser first.' });
  });
  await trial.giveBack();
  return session;
}

/** A provider that is away is nobody's failed attempt. */
async function asking<T>(trial: Trial, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAway = error instanceof AppError && /^upstream_/.test(error.code);
    if (isAway) await trial.giveBack();
    throw error;
  }
}

/** Begins the session of whom a provider names, in the account that is theirs. */
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

/** The account of whom a provider names. Who is refused is noted, as with a wrong password. */
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

/** Where a browser goes after a sign-in, and after one that failed. No part of a request leads anywhere else. */
export function afterSignIn(scope: Scope<null>, failure?: AppError): string {
  const page = `${baseOf(scope, '')}/auth`;
  return failure ? `${page}?${new URLSearchParams({ error: failure.message })}` : page;
}
