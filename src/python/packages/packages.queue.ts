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
  return new FairQueue<T>(bounds);
}

class FairQueue<T> implements Queue<T> {
  readonly #bounds: QueueBounds;
  /** In the order in which they came. */
  readonly #jobs = new Map<string, Job<T>>();
  /** The persons that have a running job. */
  readonly #busy = new Set<string>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  join(name: string, person: string, work: () => Promise<T>): Promise<T | undefined> {
    let job = this.#jobs.get(name);
    if (!job) {
      const { promise: outcome, resolve: settle } = Promise.withResolvers<T | undefined>();
      job = { persons: new Set(), work, isRunning: false, settle, outcome };
      this.#jobs.set(name, job);
    }
    job.persons.add(person);
    this.#startNext();
    this.#makeRoom(person);
    return job.outcome;
  }

  find(name: string): 'waiting' | 'running' | undefined {
    const job = this.#jobs.get(name);
    return job && (job.isRunning ? 'running' : 'waiting');
  }

  async close(): Promise<void> {
    const all = [...this.#jobs];
    for (const [name, job] of all) if (!job.isRunning) this.#giveUp(name, job);
    await Promise.allSettled(all.map(([, job]) => job.outcome));
  }

  #startNext(): void {
    for (const [name, job] of this.#jobs) {
      if (this.#busy.size >= this.#bounds.running) return;
      const person = job.isRunning ? undefined : [...job.persons].find((one) => !this.#busy.has(one));
      if (person !== undefined) this.#start(name, job, person);
    }
  }

  #start(name: string, job: Job<T>, person: string): void {
    job.isRunning = true;
    this.#busy.add(person);
    const done = job.work().finally(() => {
      this.#jobs.delete(name);
      this.#busy.delete(person);
      this.#startNext();
    });
    job.settle(done);
  }

  #giveUp(name: string, job: Job<T>): void {
    this.#jobs.delete(name);
    job.settle(undefined);
  }

  /** Takes the person out of their oldest waiting job when too many wait; a job without persons is dropped. */
  #makeRoom(person: string): void {
    const theirs = [...this.#jobs].filter(([, job]) => !job.isRunning && job.persons.has(person));
    const [oldest] = theirs;
    if (!oldest || theirs.length <= this.#bounds.waiting) return;
    const [name, job] = oldest;
    job.persons.delete(person);
    if (job.persons.size === 0) this.#giveUp(name, job);
  }
}
