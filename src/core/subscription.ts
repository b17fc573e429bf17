import { AppError } from './errors.ts';
import { toTrpcError } from './trpc.ts';

/**
 * What a long-lived subscriber waits on: that there is news in one of the things it follows, that its access must be looked
 * at again, or that it is over. Marks are kept, not queued, so a slow subscriber costs no more than a fast one.
 */
export class Inbox {
  readonly #news = new Set<string>();
  readonly #endings: (() => void)[] = [];
  #recheck = false;
  #failure: AppError | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    const end = () => this.end();
    signal?.addEventListener('abort', end, { once: true });
    this.onClose(() => signal?.removeEventListener('abort', end));
    if (signal?.aborted) this.end();
  }

  /** Registers what `close` has to undo. */
  onClose(undo: () => void): void {
    this.#endings.push(undo);
  }

  news(of: string): void {
    this.#news.add(of);
    this.#wake?.();
  }

  recheck(): void {
    this.#recheck = true;
    this.#wake?.();
  }

  /** Ends the wait; with a failure the next `next()` throws it. */
  end(failure?: AppError): void {
    this.#over = true;
    this.#failure ??= failure;
    this.#wake?.();
  }

  /** Whether nothing was marked since the last `next()`. */
  get quiet(): boolean {
    return this.#news.size === 0 && !this.#recheck;
  }

  /** What was marked since the last call, once there is something; null when it is over. */
  async next(): Promise<{ news: string[]; recheck: boolean } | null> {
    while (this.quiet && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#failure) throw this.#failure;
    if (this.#over) return null;
    const marks = { news: [...this.#news], recheck: this.#recheck };
    this.#news.clear();
    this.#recheck = false;
    return marks;
  }

  close(): void {
    for (const undo of this.#endings.splice(0)) undo();
  }
}

/** Lets a generator's failures reach the client like any procedure's: no middleware applies inside of it. */
export async function* translateErrors<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    throw error instanceof AppError ? toTrpcError(error) : error;
  }
}
