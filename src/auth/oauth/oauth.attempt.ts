import { z } from 'zod';
import { seal, unseal } from '../../core/secrets/seal.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'oauth-attempt': true;
  }
}

/** A started sign-in at a provider, as stored in the browser that started it. */
const Attempt = z.object({
  provider: z.string(),
  redirectUri: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Unix milliseconds. */
  expiresAt: z.number(),
});
export type Attempt = z.infer<typeof Attempt>;

/** How long a sign-in at the provider may take. */
export const ATTEMPT_SECONDS = 600;

const sealedFor = (provider: string) => ({ purpose: 'oauth-attempt' as const, place: `oauth:${provider}` });

/** Encrypts the attempt for a cookie. The browser cannot read it, and it is valid for one provider. */
export const sealAttempt = (secret: string, attempt: Attempt): string =>
  seal(secret, JSON.stringify(attempt), sealedFor(attempt.provider));

/** Decrypts the attempt for a provider. Null if this service did not make it, or it has expired. */
export function openAttempt(secret: string, sealed: string, provider: string): Attempt | null {
  try {
    const attempt = Attempt.parse(JSON.parse(unseal(secret, sealed, sealedFor(provider))));
    return attempt.expiresAt > Date.now() ? attempt : null;
  } catch {
    return null;
  }
}
