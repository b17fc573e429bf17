import type { Job } from 'graphile-worker';
import type { JobKind } from './kind.ts';

type Flagged = Pick<Job, 'flags'>;
type Bounds = Pick<JobKind, 'name' | 'concurrency' | 'laneConcurrency'>;

/**
 * Bounds how many jobs of a kind and of a lane run at once in this process. Kind and lane are flags of a job, and a pick-up names the
 * flags that it does not take.
 */
export interface Room {
  /** The flags of which no more jobs may run. */
  listFull(): string[];
  /** Takes a place; false when there is none, because simultaneous pick-ups may bring more jobs than there is room for. */
  take(job: Flagged): boolean;
  leave(job: Flagged): void;
}

export function createRoom(kinds: readonly Bounds[]): Room {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const taken = new Map<string, number>();

  function mostOf(flag: string): number {
    const whole = byName.get(flag);
    if (whole) return whole.concurrency;
    const [name = ''] = flag.split('/', 1);
    return byName.get(name)?.laneConcurrency ?? Number.POSITIVE_INFINITY;
  }

  const isFull = (flag: string) => (taken.get(flag) ?? 0) >= mostOf(flag);
  const flagsOf = ({ flags }: Flagged) => Object.keys(flags ?? {});

  return {
    listFull: () => [...taken.keys()].filter(isFull),
    take(job) {
      const flags = flagsOf(job);
      if (flags.some(isFull)) return false;
      for (const flag of flags) taken.set(flag, (taken.get(flag) ?? 0) + 1);
      return true;
    },
    leave(job) {
      for (const flag of flagsOf(job)) {
        const left = (taken.get(flag) ?? 1) - 1;
        if (left > 0) taken.set(flag, left);
        else taken.delete(flag);
      }
    },
  };
}
