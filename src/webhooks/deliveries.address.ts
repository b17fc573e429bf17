import { createHash } from 'node:crypto';
import { unseal } from '../core/seal.ts';

declare module '../core/keys.ts' {
  interface KeyPurposes {
    'delivery-url': true;
  }
}

export const sealedForDelivery = (id: string) =>
  ({ purpose: 'delivery-url', place: `delivery:${id}` }) as const;

/** The server that a delivery goes to; the rest of the address stays secret. */
export function maskUrl(secret: string, id: string, sealed: string): string {
  const url = URL.parse(openUrl(secret, id, sealed));
  return url ? `${url.origin}/…` : '…';
}

/** The address of a delivery; empty when it was sealed with a secret that the server no longer has. */
export function openUrl(secret: string, id: string, sealed: string): string {
  try {
    return unseal(secret, sealed, sealedForDelivery(id));
  } catch {
    return '';
  }
}

/** What deliveries to one server have in common, in a form that does not name it. */
export const laneOf = (url: string): string =>
  createHash('sha256')
    .update(URL.parse(url)?.host ?? '')
    .digest('base64url')
    .slice(0, 22);
