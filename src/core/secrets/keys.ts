import { hkdfSync } from 'node:crypto';

/**
 * The purposes of keys. A new use of a secret gets a new name, so that no key serves two purposes. Each noun
 * adds its own by augmenting this interface.
 */
export interface KeyPurposes {
  fingerprint: true;
  'secret-mark': true;
}
export type KeyPurpose = keyof KeyPurposes;

/**
 * The server's secret, or several separated by commas: the first is current, the others are older. Texts
 * signed or sealed with older secrets can still be read; at start, stored texts are sealed again with the
 * first.
 */
export type Secret = string;

/** The secrets in the text; the first is current. */
export const secretsOf = (secret: Secret): string[] => secret.split(',').map((one) => one.trim());

const derive = (secret: string, purpose: KeyPurpose) =>
  new Uint8Array(hkdfSync('sha256', secret, 'parley', purpose, 32));

/**
 * Derives one 256-bit key per purpose from the server's secret (HKDF-SHA-256, RFC 5869): a token made for one
 * purpose is invalid for another, and the secret itself signs nothing.
 */
export const deriveKey = (secret: Secret, purpose: KeyPurpose): Uint8Array => deriveKeys(secret, purpose)[0];

/** The keys of a purpose: the current one, then those of older secrets, which are only used to read. */
export function deriveKeys(secret: Secret, purpose: KeyPurpose): [Uint8Array, ...Uint8Array[]] {
  const [first = '', ...older] = secretsOf(secret);
  return [derive(first, purpose), ...older.map((one) => derive(one, purpose))];
}
