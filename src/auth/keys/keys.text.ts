import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'sk-';
const BYTES = 32;
const TAIL = 4;

/** Whether a credential has the form of an API key; everything else is a session's token. */
export const isKey = (token: string): boolean => token.startsWith(PREFIX);

/** The form in which keys are stored and looked for. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

/** A new key with what is stored of it. */
export function generateKey(): { key: string; hash: string; tail: string } {
  const key = PREFIX + randomBytes(BYTES).toString('hex');
  return { key, hash: hashKey(key), tail: key.slice(-TAIL) };
}
