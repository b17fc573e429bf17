import { tracked } from '@trpc/server';
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
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    // A subscriber may go away before anybody waits: then no `finally` will ever close this.
    const leave = () => {
      this.end();
      this.close();
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.onClose(() => signal?.removeEventListener('abort', leave));
    if (signal?.aborted) leave();
  }

  /** Registers what `close` has to undo; at once when it is closed already. */
  onClose(undo: () => void): void {
    if (this.#closed) undo();
    else this.#endings.push(undo);
  }

  get closed(): boolean {
    return this.#closed;
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

  /** Whether the subscriber must look at `next()` before it goes on: it is over, or access is in doubt. */
  get interrupted(): boolean {
    return this.#over || this.#recheck;
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
    this.#closed = true;
    for (const undo of this.#endings.splice(0)) undo();
  }
}

/**
 * The items of a subscription as tRPC sends them: each with the id that a client resumes by. Failures reach the client like any
 * procedure's, though no middleware applies inside of a generator.
 */
export async function* trackItems<T>(source: AsyncIterable<{ id: string; event: T }>) {
  try {
    for await (const { id, event } of source) yield tracked(id, event);
  } catch (error) {
    throw error instanceof AppError ? toTrpcError(error) : error;
  }
}
