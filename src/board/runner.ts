import { type Call, ModelProcess, ProcessEnded } from './process.ts';
import { errorBody } from './wire.ts';

const IDLE_MS = 5 * 60_000;
/** After a process that ended before it answered: the pause before the next one, doubled for each in a row. */
const PAUSE_MS = { first: 1_000, most: 60_000 };

/** A public sentence. */
export const DOES_NOT_START = 'The model on board does not start. The log says why.';

export interface RunnerOptions {
  weights: string;
  warn(line: string): void;
  /** How long a process is kept without calls. */
  idleMs?: number | undefined;
}

/** Keeps at most one process of the model: started by a call, ended after a time without calls. */
export class Runner {
  readonly #options: RunnerOptions;
  #process: ModelProcess | undefined;
  #calls = 0;
  #idle: NodeJS.Timeout | undefined;
  /** Processes in a row that ended before they answered. */
  #failures = 0;
  #retryAt = 0;
  #isClosed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Whether the last process did not start. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** The process id, for tests and measurements. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async send(call: Call): Promise<Response> {
    if (this.#isClosed) return unavailable('The server is stopping.');
    if (performance.now() < this.#retryAt) return unavailable(DOES_NOT_START);
    try {
      this.#process ??= this.#launch();
    } catch (error) {
      this.#options.warn(`The process of the model on board could not be made: ${error}`);
      return unavailable(DOES_NOT_START);
    }
    this.#calls += 1;
    clearTimeout(this.#idle);
    try {
      const answer = await this.#process.send(call, () => this.#release());
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (!(error instanceof ProcessEnded)) throw error;
      return unavailable(`${error.message} The log says why.`);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#process?.end();
  }

  #launch(): ModelProcess {
    const started = new ModelProcess(this.#options.weights);
    void started.ended.then((reason) => {
      const isWanted = this.#process !== started || this.#isClosed;
      if (this.#process === started) this.#process = undefined;
      if (isWanted) return;
      const { warn, weights } = this.#options;
      if (started.hasAnswered) return warn(`The model on board ended: ${reason}.`);
      warn(
        `The model on board did not start: ${reason}. Removing ${weights} makes the next start fetch it again.`,
      );
      this.#retryAt = performance.now() + Math.min(PAUSE_MS.first * 2 ** this.#failures, PAUSE_MS.most);
      this.#failures += 1;
    });
    return started;
  }

  #release(): void {
    this.#calls -= 1;
    if (this.#calls > 0 || this.#isClosed) return;
    this.#idle = setTimeout(() => {
      const idle = this.#process;
      this.#process = undefined;
      void idle?.end();
    }, this.#options.idleMs ?? IDLE_MS).unref();
  }
}

export const unavailable = (message: string): Response =>
  Response.json(errorBody(message, 'server_error', 'model_unavailable'), { status: 503 });
