import { createECDH } from 'node:crypto';
import type { Logger } from 'pino';
import type { Secret } from '../../core/secrets/keys.ts';
import { seal, unseal } from '../../core/secrets/seal.ts';
import { nowSeconds } from '../../core/time.ts';
import type { Sql } from '../../database/sql.ts';
import { readKey, storeKey } from './push.keys.repository.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'push-key': true;
  }
}

export const sealedForPushKey = () => ({ purpose: 'push-key', place: 'push-key' }) as const;

/** A pair of P-256 keys, as base64url. */
export interface PushKeys {
  publicKey: string;
  privateKey: string;
}

const KEY_BYTES = 32;

const curve = () => createECDH('prime256v1');

/** @throws Error for text that is no private key of P-256 */
export function keysOf(privateKey: string): PushKeys {
  const pair = curve();
  pair.setPrivateKey(Buffer.from(privateKey, 'base64url'));
  return { publicKey: pair.getPublicKey('base64url'), privateKey };
}

function makePrivateKey(): string {
  const pair = curve();
  pair.generateKeys();
  // A small number has fewer bytes.
  const bytes = Buffer.alloc(KEY_BYTES);
  pair.getPrivateKey().copy(bytes, KEY_BYTES - pair.getPrivateKey().length);
  return bytes.toString('base64url');
}

/**
 * The keys of the installation, which are made once: browsers are subscribed with the public key. A key that
 * the server's secret no longer opens is replaced, and browsers must subscribe again.
 */
export async function openPushKeys(sql: Sql, secret: Secret, log: Logger): Promise<PushKeys> {
  const stored = await readKey(sql);
  if (stored !== undefined) {
    try {
      return keysOf(unseal(secret, stored, sealedForPushKey()));
    } catch (error) {
      log.warn(
        { err: error },
        'The key for web push cannot be read, and is made anew: was SECRET_KEY changed?',
      );
    }
  }
  const sealed = seal(secret, makePrivateKey(), sealedForPushKey());
  const kept = await storeKey(sql, { sealed, replaced: stored ?? '', now: nowSeconds() });
  return keysOf(unseal(secret, kept, sealedForPushKey()));
}
