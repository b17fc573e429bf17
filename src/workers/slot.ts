import cluster, { type Worker as Child } from 'node:cluster';
import type { Logger } from 'pino';
import { type FromWorker, isOurs, type ToWorker, type Worker } from '../core/processes/workers.ts';
import { workerVariable } from '../env.ts';

/** The pause before a worker is started again: doubled after each one that ended early. */
const PAUSE_MS = { first: 200, most: 30_000 };
/** A worker that ran this long did not end early. */
const STEADY_MS = 60_000;
/** How many messages may wait for a worker that does not read. Later ones are dropped, and it is told so. */
const MAX_UNREAD = 10_000;

export interface SlotOptions {
  worker: Worker;
  log: Logger;
  /** Called with a notice for the other workers. */
  onNotice(text: string): void;
}

type Ready = Extract<FromWorker, { parley: 'ready' }>;

/** The place of one worker: it starts a process, and another one whenever that ends, until it is told to end. */
export class Slot {
  readonly worker: Worker;
  /** Resolves when the slot was told to end and has no process. */
  readonly ended: Promise<void>;
  readonly #log: Logger;
  readonly #onNotice: (text: string) => void;
  readonly #first = Promise.withResolvers<Ready | null>();
  readonly #ended = Promise.withResolvers<void>();
  #child: Child | undefined;
  #startedAt = 0;
  #pauseMs = PAUSE_MS.first;
  #isFirst = false;
  #isEnding = false;
  #restart: NodeJS.Timeout | undefined;
  #unread = 0;
  #hasLost = false;
  restarts = 0;
  /** Whether its process serves. */
  isReady = false;

  constructor({ worker, log, onNotice }: SlotOptions) {
    this.worker = worker;
    this.#log = log;
    this.#onNotice = onNotice;
    this.ended = this.#ended.promise;
  }

  /** Starts a process once. @returns null when it ended before it served */
  startFirst(): Promise<Ready | null> {
    this.#isFirst = true;
    this.start();
    return this.#first.promise;
  }

  start(): void {
    const child = cluster.fork(workerVariable(this.worker));
    this.#child = child;
    this.#startedAt = performance.now();
    this.#unread = 0;
    this.#hasLost = false;
    child.on('message', (message: unknown) => {
      if (isOurs(message)) this.#hear(message as FromWorker);
    });
    child.process.on('exit', (code, signal) => this.#onExit(code, signal));
  }

  /** Signals the process, and starts no other one. */
  end(signal: NodeJS.Signals): void {
    this.#isEnding = true;
    clearTimeout(this.#restart);
    if (this.#child) this.#child.process.kill(signal);
    else this.#ended.resolve();
  }

  tell(message: ToWorker): void {
    if (!this.#child?.isConnected()) return;
    if (this.#unread >= MAX_UNREAD) {
      this.#hasLost = true;
      return;
    }
    this.#unread += 1;
    this.#child.send(message, () => {
      this.#unread -= 1;
      if (this.#unread > 0 || !this.#hasLost) return;
      this.#hasLost = false;
      this.tell({ parley: 'gap' });
    });
  }

  #hear(message: FromWorker): void {
    if (message.parley === 'notice') this.#onNotice(message.text);
    if (message.parley !== 'ready') return;
    this.isReady = true;
    this.#isFirst = false;
    this.#first.resolve(message);
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    this.#child = undefined;
    this.isReady = false;
    if (this.#isEnding || this.#isFirst) {
      this.#first.resolve(null);
      this.#ended.resolve();
      return;
    }
    if (performance.now() - this.#startedAt > STEADY_MS) this.#pauseMs = PAUSE_MS.first;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most);
    this.restarts += 1;
    const { number: worker } = this.worker;
    const seconds = pauseMs / 1000;
    // The numbers stand in the text as well: the log merges equal texts, and would leave out the next pause.
    this.#log.warn(
      { worker, code, signal, restart_in_seconds: seconds },
      `Worker ${worker} has ended, and is started again in ${seconds} seconds.`,
    );
    this.#restart = setTimeout(() => this.start(), pauseMs);
  }
}
