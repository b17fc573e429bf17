import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'sk-';
const BYTES = 32;
const TAIL = 4;

/** Whether a credential has the form of an API key. Any other credential is a session token. */
export const isKey = (token: string): boolean => token.startsWith(PREFIX);

/** The form in which keys are stored and looked up. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

/** Generates a key, with the fields that are stored of it. */
export function generateKey(): { key: string; hash: string; tail: string } {
  const key = PREFIX + randomBytes(BYTES).toString('hex');
  return { key, hash: hashKey(key), tail: key.slice(-TAIL) };
}
