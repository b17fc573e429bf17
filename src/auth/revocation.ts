import type { Actor } from '../core/scope.ts';

/** What was ended before its time: one session, one API key, or everything that a user holds. */
export interface Revocation {
  userId: string;
  /** One session; null for none or all. */
  sessionId: string | null;
  /** One API key. Without either, all is meant: keys that still stand are proved anew. */
  keyId?: string;
}

declare module '../events/bus.ts' {
  interface BusTopics {
    'auth.revoked': Revocation;
    /** A user's name, address or role is another now, or what they may do; their sessions go on. */
    'auth.changed': { userId: string };
  }
}

/** Whether it ended what somebody came with. */
export function isEnded(actor: Actor, { userId, sessionId, keyId }: Revocation): boolean {
  if (actor.id !== userId) return false;
  if (keyId !== undefined) return actor.keyId === keyId;
  return sessionId === null || actor.sessionId === sessionId;
}
