import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { type Environment, type Log, prepareEnvironment } from './environment.ts';
import { type Host, startHost } from './host.ts';
import type { Limits } from './protocol.ts';

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

/** Prepares the environment and keeps a host running in it, in the background. */
export function superviseHost(options: {
  folder: string;
  interpreter: string | undefined;
  limits: Limits;
  log: Log;
  /**
   * The pause after a host that ends soon after its start, and the first pause after a failed environment.
   */
  retryMs?: number;
}): Supervisor {
  const { log } = options;
  const closing = new AbortController();
  const settled = Promise.withResolvers<void>();
  let state: PythonState = { state: 'starting', detail: 'The Python environment is being prepared.' };
  /** Set once the environment is there. */
  let host: PromiseWithResolvers<Host> | undefined;
  let environment: Environment | undefined;

  const running = run().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    if (!closing.signal.aborted) return giveUp(reason);
    state = { state: 'unavailable', detail: 'The server is stopping.' };
    host?.reject(unavailable(state.detail));
    settled.resolve();
  });

  /** The disk may have been full, or the network unavailable: attempts go on as long as the server runs. */
  async function prepare(): Promise<Environment> {
    for (
      let pauseMs = options.retryMs ?? REMAKE_MS.first;
      ;
      pauseMs = Math.min(pauseMs * 2, REMAKE_MS.most)
    ) {
      try {
        return await prepareEnvironment(options.folder, options.interpreter, log, closing.signal);
      } catch (error) {
        closing.signal.throwIfAborted();
        const reason = error instanceof Error ? error.message : String(error);
        giveUp(`${reason} It is tried again in ${Math.ceil(pauseMs / 1000)} s.`);
      }
      await delay(pauseMs, undefined, { signal: closing.signal });
    }
  }

  async function run(): Promise<void> {
    const made = await prepare();
    environment = made;
    let reason = '';
    for (let failures = 0; ; failures += 1) {
      if (failures === RESTARTS_IN_A_ROW) {
        giveUp(
          `The Python host does not stay up: ${reason}. It is tried again every minute. Mend that, or remove ${options.folder} and start again to have it made anew.`,
        );
        await delay(options.retryMs ?? RETRY_MS, undefined, { signal: closing.signal });
        failures = 0;
      }
      state = { state: 'starting', detail: 'The Python host is starting.' };
      // From here on callers wait for the next host. Its rejection may have no listener.
      const next: PromiseWithResolvers<Host> = Promise.withResolvers();
      next.promise.catch(() => {});
      host = next;
      if (failures > 0) await delay(50 * 2 ** failures, undefined, { signal: closing.signal });
      const startedAt = performance.now();
      reason = await live(made, next).catch((error: Error) => error.message);
      closing.signal.throwIfAborted();
      // Callers that waited for a host that failed to start do not wait for the next one.
      next.reject(unavailable(`The Python host did not start: ${reason}.`));
      if (performance.now() - startedAt > STEADY_MS) failures = 0;
      log.warn(`The Python host ended: ${reason}.`);
    }
  }

  /** Rejects the waiting callers and all later ones. */
  function giveUp(detail: string): void {
    log.warn(`Python tools are not available: ${detail}`);
    state = { state: 'unavailable', detail };
    host?.reject(unavailable(detail));
    settled.resolve();
  }

  /** One run of a fork server, from start to end; resolves with the reason of its end. */
  async function live(environment: Environment, host: PromiseWithResolvers<Host>): Promise<string> {
    const started = await startHost(environment.python, options.limits);
    const stop = () => void started.stop();
    closing.signal.addEventListener('abort', stop, { once: true });
    if (closing.signal.aborted) stop();
    const { python, pydantic } = started.versions;
    const gaps = started.missing.length > 0 ? ` Not protected here: ${started.missing.join('; ')}.` : '';
    if (gaps) log.warn(`Python tools run.${gaps}`);
    const detail = `Python ${python}, Pydantic ${pydantic}, ${environment.origin}.${gaps}`;
    state = { state: 'ready', detail, version: python };
    host.resolve(started);
    settled.resolve();
    const reason = await started.closed;
    closing.signal.removeEventListener('abort', stop);
    return reason;
  }

  return {
    state: () => state,
    settled: settled.promise,
    async host() {
      if (state.state === 'unavailable' || !host) throw unavailable(state.detail);
      return host.promise;
    },
    async base() {
      if (state.state === 'unavailable' || !host || !environment) throw unavailable(state.detail);
      const { versions } = await host.promise;
      return { python: environment.python, mark: JSON.stringify(versions) };
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}

function unavailable(detail: string): AppError {
  return new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
}
