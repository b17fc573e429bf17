import { createHash } from 'node:crypto';
import { unseal } from '../../core/secrets/seal.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'delivery-url': true;
  }
}

export const sealedForDelivery = (id: string) =>
  ({ purpose: 'delivery-url', place: `delivery:${id}` }) as const;

/** The server of a delivery. The rest of the address stays secret. */
export function maskUrl(secret: string, id: string, sealed: string): string {
  const url = URL.parse(openUrl(secret, id, sealed));
  return url ? `${url.origin}/…` : '…';
}

/** The address of a delivery; empty if it was sealed with a secret that the server no longer has. */
export function openUrl(secret: string, id: string, sealed: string): string {
  try {
    return unseal(secret, sealed, sealedForDelivery(id));
  } catch {
    return '';
  }
}

/** A key shared by all deliveries to one server. It does not reveal the server's name. */
export const laneOf = (url: string): string =>
  createHash('sha256')
    .update(URL.parse(url)?.host ?? '')
    .digest('base64url')
    .slice(0, 22);
