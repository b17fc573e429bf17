import { AppError } from '../../core/errors.ts';
import { decodePicture } from '../../core/pictures.ts';
import type { Role, Scope } from '../../core/scope.ts';
import { isStorable, LIMITS, STRAYING } from '../../core/wire.ts';
import type { Person } from '../identities/identities.service.ts';
import type { Claims, Provider } from './oauth.provider.ts';
import type { OAuth } from './oauth.providers.ts';

/** OpenID Connect Core 1.0, section 2: at most 255 characters. */
const SUBJECT_CHARACTERS = 255;
const PICTURE = { maxBytes: 256 * 1024, timeoutMs: 5_000, maxRedirects: 3 };

/** The value of a claim. Dots lead into objects, unless a claim has the whole path as its name. */
function claim(all: Claims['all'], path: string): unknown {
  if (Object.hasOwn(all, path)) return all[path];
  return path.split('.').reduce<unknown>((at, name) => {
    const isObject = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    return isObject ? (at as Record<string, unknown>)[name] : undefined;
  }, all);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/**
 * The strings of a claim that holds one or many. Undefined if the claim is absent, which differs from an
 * empty claim.
 */
function namesOf(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return [value]
    .flat()
    .map(textOf)
    .filter((name) => name !== '');
}

/**
 * Reads a person from the claims of a provider.
 *
 * @throws oauth_failed if a required claim is missing, forbidden if the domain of the address is not allowed
 */
export function readPerson(scope: Scope<null>, provider: Provider, claims: Claims): Person {
  const { issuer, subject, all } = claims;
  const { oauth, configs } = scope;
  const names = oauth.claimNames;
  const rules = configs.current.oauth;
  if (subject === '' || subject.length > SUBJECT_CHARACTERS || !isStorable(subject)) {
    throw new AppError('oauth_failed', { detail: 'The provider does not say who you are.' });
  }
  const email = textOf(claim(all, names.email));
  if (email === '' || !isStorable(email)) {
    throw new AppError('oauth_failed', {
      detail: 'The provider does not tell your e-mail address. Allow it to, or add one there.',
    });
  }
  // `email_verified` is about the standard `email` claim. Trusted providers apply only if the claim is
  // absent; `false` stays false.
  const verified = names.email === 'email' ? all.email_verified : undefined;
  const isTrusted = oauth.trustedEmail.includes(provider.id);
  const emailVerified = verified === true || (verified === undefined && isTrusted);
  requireDomain(rules.allowed_domains, email, emailVerified);
  const roles = rules.enable_role_mapping ? namesOf(claim(all, names.roles)) : undefined;
  return {
    issuer,
    subject,
    email,
    emailVerified,
    name: displayName([claim(all, names.name), all.preferred_username, email.split('@')[0]]),
    role: roles && roleOf(roles, oauth),
    groups: rules.enable_group_mapping ? namesOf(claim(all, names.groups)) : undefined,
    picture: () => fetchPicture(scope, textOf(claim(all, names.picture)), claims),
  };
}

/** The address in the claims, for the audit log, even if other claims are invalid. */
export function claimedEmail({ all, subject }: Claims): string {
  const email = textOf(all.email) || subject;
  return isStorable(email) ? email.slice(0, SUBJECT_CHARACTERS) : '';
}

/** An unverified address proves nothing about its domain. */
function requireDomain(allowed: readonly string[], email: string, verified: boolean): void {
  if (allowed.includes('*')) return;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (!allowed.some((one) => one.toLowerCase() === domain)) {
    throw new AppError('forbidden', { detail: 'Addresses of that domain may not sign in here.' });
  }
  if (!verified) {
    throw new AppError('forbidden', { detail: 'The provider has not verified your e-mail address.' });
  }
}

/** The first usable candidate, as a valid display name. */
export function displayName(candidates: readonly unknown[]): string {
  const [first = 'Unnamed'] = candidates
    .map((one) => textOf(one).toWellFormed().normalize('NFC').replaceAll(STRAYING, ' ').trim())
    .filter((one) => one !== '');
  return [...first].slice(0, LIMITS.nameCharacters / 2).join('');
}

/** A person without a known role gets the role `pending` and waits for an administrator. */
function roleOf(roles: readonly string[], { adminRoles, allowedRoles }: OAuth): Role {
  if (roles.some((role) => adminRoles.includes(role))) return 'admin';
  return roles.some((role) => allowedRoles.includes(role)) ? 'user' : 'pending';
}

/**
 * Fetches the picture that a provider names. The user chooses the address in the provider's profile, so the
 * request has the same checks as any address from a user. A failed fetch does not prevent the sign-in.
 */
async function fetchPicture(
  scope: Scope<null>,
  address: string,
  { token, origin }: Claims,
): Promise<string | undefined> {
  if (address === '') return undefined;
  if (address.startsWith('data:')) return decodePicture(address) ? address : undefined;
  try {
    // Microsoft's pictures require the token. It is sent only to the provider's own origin, and never follows
    // a redirect elsewhere.
    const isTheirs = URL.parse(address)?.origin === origin;
    const { status, body } = await scope.egress.fetch(address, {
      ...PICTURE,
      ...(isTheirs && { headers: { authorization: `Bearer ${token}` } }),
    });
    if (status !== 200) return undefined;
    // The type is detected from the bytes, because a Content-Type header can be wrong.
    return ['png', 'jpeg', 'gif', 'webp']
      .map((format) => `data:image/${format};base64,${body.toString('base64')}`)
      .find((uri) => decodePicture(uri) !== null);
  } catch (error) {
    scope.log.info({ err: error }, 'The picture that a provider names could not be fetched.');
    return undefined;
  }
}
