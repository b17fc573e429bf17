import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { Inbox, takePlace } from '../core/subscription.ts';
import type { Bus } from '../events/bus.ts';
import { isEnded } from './revocation.ts';

interface Watched {
  readonly actor: Actor;
  readonly inbox: Inbox;
}

/**
 * The inboxes of this process. One scan of all inboxes for each notice uses less memory than one listener for
 * each inbox.
 */
const inboxes = new WeakMap<Bus, { all: Set<Watched>; end: () => void }>();

/**
 * Tells an inbox about revocations and changes that affect its caller. Returns the function that stops it.
 */
function watch(bus: Bus, watched: Watched): () => void {
  const here = inboxes.get(bus) ?? listen(bus);
  inboxes.set(bus, here);
  here.all.add(watched);
  return () => {
    here.all.delete(watched);
    if (here.all.size > 0 || inboxes.get(bus) !== here) return;
    inboxes.delete(bus);
    here.end();
  };
}

function listen(bus: Bus) {
  const all = new Set<Watched>();
  const recheck = (isMeant: (actor: Actor) => boolean) => {
    for (const { actor, inbox } of all) if (isMeant(actor)) inbox.recheck();
  };
  const unsubscribe = [
    bus.subscribe('auth.revoked', (revocation) => {
      for (const { actor, inbox } of all) {
        if (isEnded(actor, revocation)) inbox.end(new AppError('unauthenticated'));
      }
    }),
    bus.subscribe('auth.changed', ({ userId }) => recheck(({ id }) => id === userId)),
    bus.subscribe('groups.changed', ({ userIds }) => {
      const changed = userIds && new Set(userIds);
      recheck(({ id }) => changed?.has(id) ?? true);
    }),
    bus.subscribe('config.changed', () => recheck(() => true)),
    bus.onGap(() => recheck(() => true)),
  ];
  return { all, end: () => unsubscribe.forEach((end) => void end()) };
}

/**
 * Opens an inbox that ends with the caller's session or token, also if another process ends the session. The
 * inbox is marked for a new check when the caller's permissions may have changed.
 *
 * @throws rate_limited if the connection has its maximum of inboxes, or the caller its maximum of connections
 */
export function openInbox(scope: Scope): Inbox {
  const { actor, bus, presence, request, signal } = scope;
  // A connection has one `request` for all its calls.
  const giveBack = takePlace(actor.id, request);
  const inbox = new Inbox(signal);
  inbox.onClose(giveBack);
  inbox.onClose(presence.enter(actor.id));
  inbox.onClose(watch(bus, { actor, inbox }));
  if (actor.expiresAt !== null) {
    inbox.onClose(callAt(actor.expiresAt, () => inbox.end(new AppError('unauthenticated'))));
  }
  return inbox;
}

/** Node's timers reach 24.8 days; tokens can live longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls back at a time in Unix seconds, or at once if the time is past. Returns the function that cancels it.
 */
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
