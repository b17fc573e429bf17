import { AppError } from '../core/errors.ts';
import { type Limits, MAX_ARGUMENT_BYTES, MAX_ARGUMENT_BYTES_OF_ALL } from './protocol.ts';

/** Shares the tools between people: each person may have a bounded number of calls under way. */
export interface Turns {
  /**
   * Waits until the person has fewer calls under way than the bound; without a person it does not wait. The
   * returned function gives the turn back.
   *
   * @throws rate_limited when too many calls of the person wait, wait too long or hold too many bytes;
   * python_unavailable when too many bytes wait in all
   */
  take(person: string | undefined, bytes: number, signal?: AbortSignal): Promise<() => void>;
  /** How many turns a person holds. */
  heldBy(person: string | undefined): number;
  /** How many turns are held, and how many calls wait for one. */
  load(): { running: number; waiting: number };
}

interface Share {
  running: number;
  /** The size of the arguments of all calls, waiting ones included. */
  bytes: number;
  /** In the order in which they came. */
  waiting: Set<() => void>;
}

export function openTurns(limits: Limits): Turns {
  const shares = new Map<string, Share>();
  let bytesOfAll = 0;

  const refuse = (detail: string) => new AppError('rate_limited', { detail, retryAfterSeconds: 5 });

  /** Waits for one of the person's own calls to end. */
  async function wait(share: Share, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const give = () => resolve();
    const leave = () => reject(signal?.reason);
    const detail = `${limits.callsPerPerson} of your calls of tools are under way. Try again when one of them is done.`;
    const timer = setTimeout(() => reject(refuse(detail)), limits.loadTimeoutMs);
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
    share.waiting.add(give);
    try {
      await promise;
    } finally {
      share.waiting.delete(give);
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  return {
    heldBy: (person) => (person === undefined ? 0 : (shares.get(person)?.running ?? 0)),

    load: () =>
      [...shares.values()].reduce(
        (sum, share) => ({
          running: sum.running + share.running,
          waiting: sum.waiting + share.waiting.size,
        }),
        { running: 0, waiting: 0 },
      ),

    async take(person, bytes, signal) {
      if (bytesOfAll + bytes > MAX_ARGUMENT_BYTES_OF_ALL) {
        const detail = 'Too much waits for tools already. Try again in a moment.';
        throw new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
      }
      if (person === undefined) return () => {};
      const share = shares.get(person) ?? { running: 0, bytes: 0, waiting: new Set() };
      if (share.bytes + bytes > MAX_ARGUMENT_BYTES)
        throw refuse(
          'Your calls of tools hold too many arguments already. Try again when one of them is done.',
        );
      const isFree = share.running < limits.callsPerPerson;
      if (!isFree && share.waiting.size >= limits.waitingPerPerson)
        throw refuse(`${limits.waitingPerPerson} of your calls of tools wait already. Try again later.`);
      shares.set(person, share);
      share.bytes += bytes;
      bytesOfAll += bytes;
      const forget = () => {
        share.bytes -= bytes;
        bytesOfAll -= bytes;
      };
      if (isFree) {
        share.running += 1;
      } else {
        try {
          // The caller that gives a turn back passes it on, so the count stays.
          await wait(share, signal);
        } catch (error) {
          forget();
          throw error;
        }
      }
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        forget();
        const [next] = share.waiting;
        if (next) {
          share.waiting.delete(next);
          next();
        } else {
          share.running -= 1;
          if (share.running === 0) shares.delete(person);
        }
      };
    },
  };
}
