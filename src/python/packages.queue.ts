/** Work that is done a little at a time, and for no person more than one at a time, so that nobody waits for all of somebody else's. */
export interface Queue<T> {
  /**
   * Does the work of that name once for all who ask while it waits or runs, and gives each of them its outcome; undefined when it was
   * given up before it began: the person asked for too much since then, or everything ended.
   */
  join(name: string, person: string, work: () => Promise<T>): Promise<T | undefined>;
  /** How it stands with the work of that name. */
  find(name: string): 'waiting' | 'running' | undefined;
  /** Gives up what has not begun, and waits for what has. */
  close(): Promise<void>;
}

export interface QueueBounds {
  /** Of all together. */
  running: number;
  /** Of each person; with one more the oldest of them is given up. */
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
  /** The persons on whose account something runs. */
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

  /** The person no longer waits for their oldest when that makes too many. */
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
