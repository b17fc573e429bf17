import type { Actor } from '../core/scope.ts';

/** A revocation of one session, one API key, or all credentials of a user. */
export interface Revocation {
  userId: string;
  /** One session; null for none or all. */
  sessionId: string | null;
  /** One API key. Without a session and a key, all credentials are meant; valid keys are verified anew. */
  keyId?: string;
}

declare module '../events/bus.ts' {
  interface BusTopics {
    'auth.revoked': Revocation;
    /**
     * Credentials of a user are about to end: all processes verify them anew for some seconds. Told before the write.
     * Otherwise one process answers 401 after the write, while another one trusts the credential until it hears
     * `auth.revoked`.
     */
    'auth.ending': { userId: string };
    /** The name, address, role or permissions of a user changed. The user's sessions continue. */
    'auth.changed': { userId: string };
  }
}

/** True if the revocation ended the credential of this actor. */
export function isEnded(actor: Actor, { userId, sessionId, keyId }: Revocation): boolean {
  if (actor.id !== userId) return false;
  if (keyId !== undefined) return actor.keyId === keyId;
  return sessionId === null || actor.sessionId === sessionId;
}
