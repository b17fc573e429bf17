import cluster from 'node:cluster';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Worker as WorkerInfo } from '../core/processes/workers.ts';
import { EmbeddedDatabaseError, startEmbedded } from '../database/embedded/embedded.ts';
import { requirePort } from '../doors/http/listen.ts';
import { type Env, StartError } from '../env.ts';
import { createLog } from '../log.ts';
import { fail, graceOf, onStopSignal, STOP_PATIENCE_MS, welcome } from '../stopping.ts';
import { answerMetrics } from './metrics.ts';
import { Slot } from './slot.ts';

/** Connections of the pool of one worker (`database/orm.ts`), and some for commands of the shell. */
const CONNECTIONS = { each: 20, more: 20, least: 100 };

/**
 * Runs the server as several processes on one port (`SO_REUSEPORT`), and nothing else: this process replaces workers that end, passes
 * notices, limits and metrics between them, and owns the embedded PostgreSQL. It never sees a connection.
 */
export async function runPrimary(env: Env): Promise<void> {
  const primary = new Primary(env);
  onStopSignal((signal, isPatient) => void primary.stop(0, signal, isPatient ? 'SIGTERM' : 'SIGINT'));
  try {
    await primary.start();
  } catch (error) {
    await primary.release();
    fail(error, error instanceof StartError || error instanceof EmbeddedDatabaseError);
  }
}

class Primary {
  readonly #env: Env;
  readonly #log: Logger;
  readonly #slots: Slot[] = [];
  /** Ends what the workers share, last. */
  readonly #closers: (() => unknown)[] = [];
  #isStopping = false;

  constructor(env: Env) {
    this.#env = env;
    this.#log = createLog(env.LOG_LEVEL);
  }

  /** The first worker brings the tables up to date and makes the secret; the others start when it serves. */
  async start(): Promise<void> {
    const env = this.#env;
    await requirePort(env);
    if (!env.REDIS_URL) new RateLimiterClusterMaster();
    const folder = await mkdtemp(join(tmpdir(), 'parley-'));
    this.#closers.push(() => rm(folder, { recursive: true, force: true }));
    const database = await this.#startDatabase();
    if (this.#isStopping) return;
    const shared = { port: env.PORT, group: randomInt(1, 2 ** 31), folder, database };
    answerMetrics(() => this.#slots, this.#log);
    for (let number = 1; number <= env.WORKERS; number++)
      this.#slots.push(this.#slotFor({ number, ...shared }));
    const [first, ...others] = this.#slots;
    const started = await first?.startFirst();
    if (this.#isStopping) return;
    // The worker has written the reason.
    if (!started) return this.stop(1, 'The first worker did not start.');
    for (const { worker } of this.#slots) worker.port ||= Number(new URL(started.url).port);
    welcome(started, env);
    for (const slot of others) slot.start();
  }

  /** Ends all workers and what they share. A second signal goes to the workers, whose grace it ends. */
  async stop(exitCode: number, reason: string, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    this.#signal(signal);
    if (this.#isStopping) return;
    this.#isStopping = true;
    // Later than the workers lose patience themselves.
    const late = setTimeout(() => this.#signal('SIGKILL'), graceOf(this.#env) + STOP_PATIENCE_MS + 2_000);
    await Promise.all(this.#slots.map((slot) => slot.ended));
    clearTimeout(late);
    await this.release();
    this.#log.info({ reason }, 'All processes of Parley have stopped.');
    process.exit(exitCode);
  }

  #signal(signal: NodeJS.Signals): void {
    for (const slot of this.#slots) slot.end(signal);
  }

  async release(): Promise<void> {
    this.#isStopping = true;
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  /** @returns the id of its process; null where the database is another one */
  async #startDatabase(): Promise<number | null> {
    const { DATABASE_URL, DATA_DIR, WORKERS } = this.#env;
    if (DATABASE_URL) return null;
    const wanted = Math.max(CONNECTIONS.least, WORKERS * CONNECTIONS.each + CONNECTIONS.more);
    const embedded = await startEmbedded({
      dataDir: DATA_DIR,
      log: (line) => this.#log.info(line),
      settings: { max_connections: String(wanted) },
    });
    this.#closers.push(() => embedded.stop());
    void embedded.exited.then(() => {
      if (this.#isStopping) return;
      process.stderr.write('The embedded PostgreSQL has ended. The server stops.\n');
      void this.stop(1, 'The embedded PostgreSQL has ended.');
    });
    return embedded.pid;
  }

  #slotFor(worker: WorkerInfo): Slot {
    const onNotice = (text: string) => {
      for (const slot of this.#slots) if (slot.worker !== worker) slot.tell({ parley: 'notice', text });
    };
    return new Slot({ worker, log: this.#log, onNotice });
  }
}

// A library that answers a worker which has just ended must not end this process.
cluster.on('fork', (worker) => worker.on('error', () => {}));
