import { createHash } from 'node:crypto';
import type { Secret } from '../../core/secrets/keys.ts';
import { seal, unseal } from '../../core/secrets/seal.ts';
import type { PushForm } from './push.schema.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'push-target': true;
  }
}

/** Where a browser is reached, and the keys that its notifications are encrypted with (RFC 8291). */
export type PushTarget = Pick<PushForm, 'endpoint' | 'keys'>;

export const sealedForTarget = (endpointHash: string) =>
  ({ purpose: 'push-target', place: `push:${endpointHash}` }) as const;

export const hashOf = (endpoint: string): string => createHash('sha256').update(endpoint).digest('base64url');

export const sealTarget = (secret: Secret, { endpoint, keys }: PushTarget): string =>
  seal(secret, JSON.stringify({ endpoint, keys }), sealedForTarget(hashOf(endpoint)));

/** Null if it was sealed with a secret that the server no longer has. */
export function openTarget(secret: Secret, sealed: string, endpointHash: string): PushTarget | null {
  try {
    return JSON.parse(unseal(secret, sealed, sealedForTarget(endpointHash))) as PushTarget;
  } catch {
    return null;
  }
}
