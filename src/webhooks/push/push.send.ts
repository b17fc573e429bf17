import type { PushKeys } from './push.keys.ts';
import type { PushTarget } from './push.target.ts';

/** How long a push service keeps a notification for a browser that is away. */
const KEPT_SECONDS = 86_400;

export interface PushRequest {
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Web push, where the environment switches it on. */
export interface WebPush {
  /** Browsers subscribe with it. */
  readonly publicKey: string;
  /**
   * The request to the push service of a browser, with the encrypted payload.
   *
   * @param topic replaces an earlier notification with the same topic that still waits; at most 32 characters
   * @throws Error for keys of a browser that are no keys
   */
  request(target: PushTarget, payload: object, topic: string): Promise<PushRequest>;
}

/** @param contact the address of the operator for push services: `mailto:` or `https:` (RFC 8292, 2.1) */
export function createWebPush(keys: PushKeys, contact: string): WebPush {
  const vapidDetails = { subject: contact, ...keys };
  return {
    publicKey: keys.publicKey,
    async request(target, payload, topic) {
      // Most servers send none: the library is loaded for the first one.
      const { default: library } = await import('web-push');
      const { headers, body } = library.generateRequestDetails(target, JSON.stringify(payload), {
        vapidDetails,
        TTL: KEPT_SECONDS,
        topic,
      });
      // The length follows from the body.
      const { 'Content-Length': _length, ...others } = headers as Record<string, unknown>;
      const sent = Object.entries(others).map(([name, value]) => [name, String(value)]);
      return { headers: Object.fromEntries(sent), body };
    },
  };
}
