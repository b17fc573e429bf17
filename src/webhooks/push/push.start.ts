import { StartError } from '../../env.ts';
import type { Base } from '../../noun.ts';
import { keysOf, openPushKeys, type PushKeys } from './push.keys.ts';
import { createWebPush, type WebPush } from './push.send.ts';

/** Web push, where the environment switches it on; else null. @throws StartError for a key that is none */
export async function startWebPush({
  env: { WEB_PUSH_CONTACT: contact, WEB_PUSH_PRIVATE_KEY: given },
  sql,
  secret,
  log,
}: Pick<Base, 'env' | 'sql' | 'secret' | 'log'>): Promise<WebPush | null> {
  if (!contact) return null;
  return createWebPush(given ? givenKeys(given) : await openPushKeys(sql, secret, log), contact);
}

function givenKeys(privateKey: string): PushKeys {
  try {
    return keysOf(privateKey.replace(/=$/, ''));
  } catch (cause) {
    const words = 'must be a private key of P-256: 32 bytes as base64url';
    throw new StartError(`The environment variable WEB_PUSH_PRIVATE_KEY is wrong: ${words}.`, { cause });
  }
}
