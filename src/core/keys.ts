import { hkdfSync } from 'node:crypto';

/** What a key is for. A new use of a secret gets a new name, so that no key ever serves two purposes. */
export type KeyPurpose =
  | 'session-jwt'
  | 'device-jwt'
  | 'fingerprint'
  | 'oauth-attempt'
  | 'configuration'
  | 'tool-valves'
  | 'webhook-token'
  | 'delivery-url';

/**
 * Derives one 256-bit key per purpose from the server's secret (HKDF-SHA-256, RFC 5869): a token made for
 * one use is worthless for another, and the secret itself signs nothing.
 */
export function deriveKey(secret: string, purpose: KeyPurpose): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'parley', purpose, 32));
}
