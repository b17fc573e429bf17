import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { Inbox, takePlace } from '../core/subscription.ts';
import type { Bus } from '../events/bus.ts';
import { isEnded } from './revocation.ts';

/** A subscription or socket, which lasts longer than a call and depends on its caller's rights. */
export interface Watched {
  /** The caller; null before authentication. */
  actorOf(): Actor | null;
  /** The caller's rights may have changed. */
  recheck(): void;
  /** The caller's session or token has ended. */
  end(failure: AppError): void;
}

/**
 * All watched items of this process. One scan for each notice costs less memory than a listener for each
 * item.
 */
const watching = new WeakMap<Bus, { all: Set<Watched>; end: () => void }>();

/**
 * Reports changes of a caller's rights and the end of their session, on any process. Returns the function
 * that stops it.
 */
export function watchCaller(bus: Bus, watched: Watched): () => void {
  const here = watching.get(bus) ?? listen(bus);
  watching.set(bus, here);
  here.all.add(watched);
  return () => {
    here.all.delete(watched);
    if (here.all.size > 0 || watching.get(bus) !== here) return;
    watching.delete(bus);
    here.end();
  };
}

function listen(bus: Bus) {
  const all = new Set<Watched>();
  const recheck = (isMeant: (actor: Actor) => boolean) => {
    for (const watched of all) {
      const actor = watched.actorOf();
      if (actor && isMeant(actor)) watched.recheck();
    }
  };
  const unsubscribe = [
    bus.subscribe('auth.revoked', (revocation) => {
      for (const watched of all) {
        const actor = watched.actorOf();
        if (actor && isEnded(actor, revocation)) watched.end(new AppError('unauthenticated'));
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

/** Pause before a check that failed for another reason than the right, such as an outage of the database. */
const RECHECK_MS = 1_000;

/**
 * Checks a right of running work again, until the check gives an answer. Never fails.
 *
 * @param check throws an AppError if the right is lost
 * @param work.end is called with that error
 * @param work.signal fires when the work is over
 */
export async function recheckRight(
  check: () => Promise<unknown>,
  { end, signal }: { end: (failure: AppError) => void; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await check();
      return;
    } catch (error) {
      if (error instanceof AppError) return end(error);
      await delay(RECHECK_MS, undefined, { ref: false });
    }
  }
}

/**
 * Counts a subscription of the caller, and watches the caller: `end` is called when the session or token
 * ends, `recheck` when the caller's rights may have changed. Returns the function that undoes all of it.
 *
 * @throws rate_limited if the connection has its maximum of inboxes, or the caller its maximum of connections
 */
export function attend(scope: Scope, { recheck, end }: Omit<Watched, 'actorOf'>): () => void {
  const { actor, bus, presence, request } = scope;
  // All calls of a connection have the same `request`.
  const undo = [
    takePlace(actor.id, request),
    presence.enter(actor.id),
    watchCaller(bus, { actorOf: () => actor, recheck, end }),
  ];
  if (actor.expiresAt !== null)
    undo.push(callAt(actor.expiresAt, () => end(new AppError('unauthenticated'))));
  return () => {
    for (const one of undo.splice(0)) one();
  };
}

/** An inbox of a subscription that ends with the caller's session. @throws rate_limited as `attend` */
export function openInbox(scope: Scope): Inbox {
  const inbox = new Inbox(scope.signal);
  try {
    inbox.onClose(attend(scope, { recheck: () => inbox.recheck(), end: (failure) => inbox.end(failure) }));
  } catch (error) {
    inbox.close();
    throw error;
  }
  return inbox;
}

/** The maximum delay of Node's timers, 24.8 days. Tokens can live longer. */
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
