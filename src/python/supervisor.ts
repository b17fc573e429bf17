import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { type Environment, type Log, prepareEnvironment } from './environment.ts';
import { type Host, startHost } from './host.ts';
import type { Limits } from './limits.ts';

const RESTARTS_IN_A_ROW = 6;
const STEADY_MS = 60_000;
/** Pauses before a new attempt to make an environment. */
const REMAKE_MS = { first: 10_000, most: 10 * 60_000 };
/** Pause after several short runs in a row; calls fail with python_unavailable meanwhile. */
const RETRY_MS = 60_000;

/** `detail` describes the current step, or the reason and the remedy. */
export interface PythonState {
  state: 'starting' | 'ready' | 'unavailable';
  detail: string;
  /** The version of Python. */
  version?: string;
}

export interface Supervisor {
  state(): PythonState;
  /** Resolves once Python is ready or known to be unavailable. */
  settled: Promise<void>;
  /**
   * The running host. Waits for a start, which takes a moment. Does not wait while the environment is made,
   * which may take minutes: throws python_unavailable.
   */
  host(): Promise<Host>;
  /**
   * The running interpreter, and the properties of it that decide which packages fit. @throws
   * python_unavailable
   */
  base(): Promise<{ python: string; mark: string }>;
  close(): Promise<void>;
}

export interface SupervisorOptions {
  folder: string;
  interpreter: string | undefined;
  limits: Limits;
  log: Log;
  /**
   * The pause after a host that ends soon after its start, and the first pause after a failed environment.
   */
  retryMs?: number;
}

/** Prepares the environment and keeps a host running in it, in the background. */
export function superviseHost(options: SupervisorOptions): Supervisor {
  return new HostSupervisor(options);
}

class HostSupervisor implements Supervisor {
  readonly settled: Promise<void>;
  readonly #options: SupervisorOptions;
  readonly #closing = new AbortController();
  readonly #settled = Promise.withResolvers<void>();
  /** Resolves when the supervisor is closed, or has given up for good. */
  readonly #running: Promise<void>;
  #state: PythonState = { state: 'starting', detail: 'The Python environment is being prepared.' };
  #environment: Environment | undefined;
  /** The host that runs or starts; set once the environment is there. */
  #host: PromiseWithResolvers<Host> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.settled = this.#settled.promise;
    this.#running = this.#run().catch((error: unknown) => this.#end(error));
  }

  state(): PythonState {
    return this.#state;
  }

  async host(): Promise<Host> {
    if (this.#state.state === 'unavailable' || !this.#host) throw unavailable(this.#state.detail);
    return this.#host.promise;
  }

  async base(): Promise<{ python: string; mark: string }> {
    const python = this.#environment?.python;
    if (this.#state.state === 'unavailable' || !this.#host || python === undefined)
      throw unavailable(this.#state.detail);
    const { versions } = await this.#host.promise;
    return { python, mark: JSON.stringify(versions) };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Runs one host after another, until the supervisor is closed. */
  async #run(): Promise<void> {
    const environment = await this.#prepare();
    this.#environment = environment;
    let reason = '';
    for (let failures = 0; ; failures += 1) {
      if (failures === RESTARTS_IN_A_ROW) {
        this.#giveUp(
          `The Python host does not stay up: ${reason}. It is tried again every minute. Mend that, or remove ${this.#options.folder} and start again to have it made anew.`,
        );
        await this.#pause(this.#options.retryMs ?? RETRY_MS);
        failures = 0;
      }
      this.#state = { state: 'starting', detail: 'The Python host is starting.' };
      // From here on callers wait for the next host. Its rejection may have no listener.
      const next: PromiseWithResolvers<Host> = Promise.withResolvers();
      next.promise.catch(() => {});
      this.#host = next;
      if (failures > 0) await this.#pause(50 * 2 ** failures);
      const startedAt = performance.now();
      reason = await this.#live(environment, next).catch((error: Error) => error.message);
      this.#closing.signal.throwIfAborted();
      // Callers that waited for a host that failed to start do not wait for the next one.
      next.reject(unavailable(`The Python host did not start: ${reason}.`));
      if (performance.now() - startedAt > STEADY_MS) failures = 0;
      this.#options.log.warn(`The Python host ended: ${reason}.`);
    }
  }

  /** The disk may have been full, or the network unavailable: attempts go on as long as the server runs. */
  async #prepare(): Promise<Environment> {
    const { folder, interpreter, log, retryMs = REMAKE_MS.first } = this.#options;
    for (let pauseMs = retryMs; ; pauseMs = Math.min(pauseMs * 2, REMAKE_MS.most)) {
      try {
        return await prepareEnvironment(folder, interpreter, log, this.#closing.signal);
      } catch (error) {
        this.#closing.signal.throwIfAborted();
        const again = `It is tried again in ${Math.ceil(pauseMs / 1000)} s.`;
        this.#giveUp(`${reasonOf(error)} ${again}`);
      }
      await this.#pause(pauseMs);
    }
  }

  /** One run of a fork server, from start to end; resolves with the reason of its end. */
  async #live(environment: Environment, host: PromiseWithResolvers<Host>): Promise<string> {
    const { signal } = this.#closing;
    const started = await startHost(environment.python, this.#options.limits);
    const stop = () => void started.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const { python, pydantic } = started.versions;
    const gaps = started.missing.length > 0 ? ` Not protected here: ${started.missing.join('; ')}.` : '';
    if (gaps) this.#options.log.warn(`Python tools run.${gaps}`);
    const detail = `Python ${python}, Pydantic ${pydantic}, ${environment.origin}.${gaps}`;
    this.#state = { state: 'ready', detail, version: python };
    host.resolve(started);
    this.#settled.resolve();
    const reason = await started.closed;
    signal.removeEventListener('abort', stop);
    return reason;
  }

  /** Waits; rejects when the supervisor is closed. */
  #pause(timeMs: number): Promise<void> {
    return delay(timeMs, undefined, { signal: this.#closing.signal });
  }

  /** Rejects the waiting callers and all later ones. */
  #giveUp(detail: string): void {
    this.#options.log.warn(`Python tools are not available: ${detail}`);
    this.#become(detail);
  }

  /** `run` has failed: because the supervisor is closed, or for another reason. */
  #end(error: unknown): void {
    if (this.#closing.signal.aborted) this.#become('The server is stopping.');
    else this.#giveUp(reasonOf(error));
  }

  #become(unavailableBecause: string): void {
    this.#state = { state: 'unavailable', detail: unavailableBecause };
    this.#host?.reject(unavailable(unavailableBecause));
    this.#settled.resolve();
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function unavailable(detail: string): AppError {
  return new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
}
