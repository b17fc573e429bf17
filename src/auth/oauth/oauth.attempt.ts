import { z } from 'zod';
import { seal, unseal } from '../../core/seal.ts';

declare module '../../core/keys.ts' {
  interface KeyPurposes {
    'oauth-attempt': true;
  }
}

/** A sign-in at a provider that has begun, as the browser that began it keeps it. */
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

/** How long somebody may take at the provider. */
export const ATTEMPT_SECONDS = 600;

const sealedFor = (provider: string) => ({ purpose: 'oauth-attempt' as const, place: `oauth:${provider}` });

/** The attempt as a cookie may hold it: unreadable, and of no use at another provider. */
export const sealAttempt = (secret: string, attempt: Attempt): string =>
  seal(secret, JSON.stringify(attempt), sealedFor(attempt.provider));

/** The attempt at a provider that a browser holds; null when it is none of ours, or has expired. */
export function openAttempt(secret: string, sealed: string, provider: string): Attempt | null {
  try {
    const attempt = Attempt.parse(JSON.parse(unseal(secret, sealed, sealedFor(provider))));
    return attempt.expiresAt > Date.now() ? attempt : null;
  } catch {
    return null;
  }
}
