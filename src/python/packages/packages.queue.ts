/**
 * A queue of work. Few jobs run at a time, and at most one for each person, so that a person does not wait
 * for all jobs of another person.
 */
export interface Queue<T> {
  /**
   * Runs the job of that name once for all callers that join while it waits or runs; each caller gets its
   * outcome. Resolves with undefined when the job was dropped before it began: the person queued too many
   * later jobs, or the queue was closed.
   */
  join(name: string, person: string, work: () => Promise<T>): Promise<T | undefined>;
  /** The state of the job of that name. */
  find(name: string): 'waiting' | 'running' | undefined;
  /** Drops the jobs that have not begun, and waits for the running ones. */
  close(): Promise<void>;
}

export interface QueueBounds {
  /** How many jobs run at a time, for all persons. */
  running: number;
  /** How many jobs of one person wait; one more drops the oldest. */
  waiting: number;
}

interface Job<T> {
  persons: Set<string>;
  work: () => Promise<T>;
  isRunning: boolean;
  settle(outcome: Promise<T> | undefined): void;
  outcome: Promise<T | undefined>;
}

export function openQueue<T>(bounds: QueueBounds): Queue<T> {
  /** In the order in which they came. */
  const jobs = new Map<string, Job<T>>();
  /** The persons that have a running job. */
  const busy = new Set<string>();

  function startNext(): void {
    for (const [name, job] of jobs) {
      if (busy.size >= bounds.running) return;
      const person = job.isRunning ? undefined : [...job.persons].find((one) => !busy.has(one));
      if (person !== undefined) start(name, job, person);
    }
  }

  function start(name: string, job: Job<T>, person: string): void {
    job.isRunning = true;
    busy.add(person);
    const done = job.work().finally(() => {
      jobs.delete(name);
      busy.delete(person);
      startNext();
    });
    job.settle(done);
  }

  function giveUp(name: string, job: Job<T>): void {
    jobs.delete(name);
    job.settle(undefined);
  }

  /** Drops the oldest jobs of the person while too many wait. */
  function makeRoom(person: string): void {
    const theirs = [...jobs].filter(([, job]) => !job.isRunning && job.persons.has(person));
    const [oldest] = theirs;
    if (!oldest || theirs.length <= bounds.waiting) return;
    const [name, job] = oldest;
    job.persons.delete(person);
    if (job.persons.size === 0) giveUp(name, job);
  }

  return {
    join(name, person, work) {
      let job = jobs.get(name);
      if (!job) {
        const { promise: outcome, resolve: settle } = Promise.withResolvers<T | undefined>();
        job = { persons: new Set(), work, isRunning: false, settle, outcome };
        jobs.set(name, job);
      }
      job.persons.add(person);
      startNext();
      makeRoom(person);
      return job.outcome;
    },
    find(name) {
      const job = jobs.get(name);
      return job && (job.isRunning ? 'running' : 'waiting');
    },
    async close() {
      const all = [...jobs];
      for (const [name, job] of all) if (!job.isRunning) giveUp(name, job);
      await Promise.allSettled(all.map(([, job]) => job.outcome));
    },
  };
}
