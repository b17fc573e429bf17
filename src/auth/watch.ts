import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { Inbox, takePlace } from '../core/subscription.ts';
import { isEnded } from './revocation.ts';

/**
 * An inbox that ends with the caller's session or token, on whichever process that happens, and is marked for a new look
 * whenever what the caller may do can have changed.
 *
 * @throws rate_limited when the connection has as many as it may, or the caller as many connections
 */
export function openInbox(scope: Scope): Inbox {
  const { actor, bus, presence, request, signal } = scope;
  // A connection has one `request`, however many calls it makes.
  const giveBack = takePlace(actor.id, request);
  const inbox = new Inbox(signal);
  inbox.onClose(giveBack);
  inbox.onClose(presence.enter(actor.id));
  const end = () => inbox.end(new AppError('unauthenticated'));
  const recheck = () => inbox.recheck();
  inbox.onClose(
    bus.subscribe('auth.revoked', (revocation) => {
      if (isEnded(actor, revocation)) end();
    }),
  );
  inbox.onClose(
    bus.subscribe('auth.changed', ({ userId }) => {
      if (userId === actor.id) recheck();
    }),
  );
  inbox.onClose(
    bus.subscribe('groups.changed', ({ userIds }) => {
      if (userIds?.includes(actor.id) ?? true) recheck();
    }),
  );
  inbox.onClose(bus.subscribe('config.changed', recheck));
  inbox.onClose(bus.onGap(recheck));
  if (actor.expiresAt !== null) inbox.onClose(callAt(actor.expiresAt, end));
  return inbox;
}

/** Node's timers reach 24.8 days; tokens live longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls back at a moment in Unix seconds, at once when it is past. Returns how to call it off. */
export function callAt(seconds: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = () => {
    const leftMs = Math.max(0, seconds * 1000 - Date.now());
    timer = setTimeout(leftMs > LONGEST_TIMER_MS ? arm : callback, Math.min(leftMs, LONGEST_TIMER_MS));
    timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}
