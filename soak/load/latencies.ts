import { quantile } from '../../bench/support/rounds.ts';

export type Kind = 'post' | 'page';

export interface Spread {
  count: number;
  p50: number;
  p99: number;
}

/** Durations of answered calls in milliseconds. */
export class Latencies {
  readonly #values: Record<Kind, number[]> = { post: [], page: [] };
  #failed = 0;

  note(kind: Kind, ms: number, isAnswered: boolean): void {
    if (isAnswered) this.#values[kind].push(ms);
    else this.#failed += 1;
  }

  /** The spreads since the last call. */
  take(): Record<Kind, Spread> & { failed: number } {
    const spread = (kind: Kind): Spread => {
      const values = this.#values[kind].splice(0);
      return { count: values.length, p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
    };
    const failed = this.#failed;
    this.#failed = 0;
    return { post: spread('post'), page: spread('page'), failed };
  }
}
