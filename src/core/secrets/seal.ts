import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKeys, type KeyPurpose, type Secret, secretsOf } from './keys.ts';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The purpose and the place of a sealed text; both must be equal when it is read. */
export interface SealedFor {
  purpose: KeyPurpose;
  /** Names the row, for example `tool:dice`: a text that was moved to another row cannot be read there. */
  place: string;
}

/** Deriving a key costs more than encrypting, and a process has one secret. */
const keys = new Map<string, ReturnType<typeof deriveKeys>>();

function keysFor(secret: Secret, purpose: KeyPurpose) {
  const name = `${purpose}\n${secret}`;
  let derived = keys.get(name);
  if (!derived) {
    derived = deriveKeys(secret, purpose);
    keys.set(name, derived);
  }
  return derived;
}

/** Encrypts a text for the database (AES-256-GCM, a random nonce each time, one key per purpose). */
export function seal(secret: Secret, text: string, { purpose, place }: SealedFor): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keysFor(secret, purpose)[0], nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')}`;
}

/**
 * The state of a sealed text for a list of secrets: `current` is sealed with the current secret; `lost`
 * cannot be opened.
 */
export type Renewal = { state: 'current' | 'lost' } | { state: 'renewed'; sealed: string };

/** Seals a text with the current secret when an older secret of the list has sealed it. */
export function renew(secret: Secret, sealed: string, sealedFor: SealedFor): Renewal {
  const [newest = ''] = secretsOf(secret);
  if (opens(newest, sealed, sealedFor) !== null) return { state: 'current' };
  const text = opens(secret, sealed, sealedFor);
  return text === null ? { state: 'lost' } : { state: 'renewed', sealed: seal(secret, text, sealedFor) };
}

function opens(secret: Secret, sealed: string, sealedFor: SealedFor): string | null {
  try {
    return unseal(secret, sealed, sealedFor);
  } catch {
    return null;
  }
}

/**
 * The text that was sealed.
 *
 * @throws Error when the text was changed, moved, or sealed with another secret; the message quotes no part
 * of it
 */
export function unseal(secret: Secret, sealed: string, { purpose, place }: SealedFor): string {
  const [version, encoded] = sealed.split('.');
  const bytes = Buffer.from(encoded ?? '', 'base64');
  if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES)
    throw new Error('This is not a sealed text.');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  let cause: unknown;
  for (const key of keysFor(secret, purpose)) {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch (error) {
      // An older secret may fit.
      cause = error;
    }
  }
  throw new Error('A sealed text cannot be read: it was sealed with another secret, or changed.', { cause });
}
