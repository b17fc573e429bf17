import type { AppError } from '../../core/errors.ts';
import type { Limits } from '../limits.ts';
import type { Loaded, Prepared } from '../protocol.ts';

/**
 * The load of one tool: the process reads the source (`reading`), reports what it read and runs the source
 * (`prepared`), and describes the tool (`loaded`). A load that fails stays in its state.
 */
export class ToolLoad {
  readonly outcome: Promise<Prepared & Loaded>;
  readonly #outcome = Promise.withResolvers<Prepared & Loaded>();
  readonly #timer: NodeJS.Timeout;
  #state: 'reading' | 'prepared' | 'loaded' = 'reading';
  #prepared: Prepared | undefined;

  constructor({ loadTimeoutMs }: Limits, onTimeout: (reason: string) => void) {
    this.outcome = this.#outcome.promise;
    this.outcome.catch(() => {});
    const tooSlow =
      `The tool did not finish loading within ${loadTimeoutMs / 1000} s. ` +
      'What takes long, such as the import of large packages, belongs into its functions.';
    this.#timer = setTimeout(() => onTimeout(tooSlow), loadTimeoutMs);
  }

  /** True until the tool is loaded, also after the load has failed. */
  isUnderWay(): boolean {
    return this.#state !== 'loaded';
  }

  /**
   * Whether a message about the load comes out of turn. The host sends each once and in order; a hostile tool
   * may repeat it.
   */
  isStray(kind: unknown): boolean {
    if (kind === 'prepared') return this.#state !== 'reading';
    if (kind === 'loaded') return this.#state !== 'prepared';
    return kind === 'refused' && this.#state === 'loaded';
  }

  prepare(prepared: Prepared): void {
    this.#state = 'prepared';
    this.#prepared = prepared;
  }

  /** Resolves without a description, because the source is not run. */
  endBeforeRun(prepared: Prepared): void {
    this.#outcome.resolve({ ...prepared, specs: [], valves: null, user_valves: null });
  }

  finish(loaded: Loaded): void {
    this.#state = 'loaded';
    clearTimeout(this.#timer);
    if (!this.#prepared) return;
    const warnings = [...this.#prepared.warnings, ...loaded.warnings];
    this.#outcome.resolve({ ...loaded, ...this.#prepared, warnings });
  }

  fail(error: AppError): void {
    clearTimeout(this.#timer);
    this.#outcome.reject(error);
  }
}
