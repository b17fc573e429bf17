import type { Job } from 'graphile-worker';
import type { JobKind } from './kind.ts';

/**
 * Keeps to how many jobs of a kind and of a lane run at once in this process. Kind and lane are flags of a job, and a pick-up names
 * those that it does not take.
 */
export interface Room {
  /** Waits for the pick-up before, as that may fill a place. @returns the flags of which no more may run */
  enter(): Promise<string[]>;
  /** Ends the pick-up, with what it has brought. */
  seat(job: Pick<Job, 'flags'> | null): void;
  leave(job: Pick<Job, 'flags'>): void;
}

type Bounds = Pick<JobKind, 'name' | 'concurrency' | 'laneConcurrency'>;

export function createRoom(kinds: readonly Bounds[]): Room {
  const most = new Map(kinds.map((kind) => [kind.name, kind]));
  const taken = new Map<string, number>();
  let before = Promise.resolve();
  let end = () => {};

  function mostOf(flag: string): number {
    const whole = most.get(flag);
    if (whole) return whole.concurrency;
    const [name = ''] = flag.split('/', 1);
    return most.get(name)?.laneConcurrency ?? Number.POSITIVE_INFINITY;
  }

  function count({ flags }: Pick<Job, 'flags'>, by: 1 | -1): void {
    for (const flag of Object.keys(flags ?? {})) {
      const number = (taken.get(flag) ?? 0) + by;
      if (number > 0) taken.set(flag, number);
      else taken.delete(flag);
    }
  }

  return {
    async enter() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const turn = before;
      before = promise;
      await turn;
      end = resolve;
      return [...taken].filter(([flag, number]) => number >= mostOf(flag)).map(([flag]) => flag);
    },
    seat(job) {
      if (job) count(job, 1);
      end();
    },
    leave: (job) => count(job, -1),
  };
}
