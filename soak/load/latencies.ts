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
  /** How many calls were answered with each other status; 0: without an answer. */
  #failed: Record<number, number> = {};

  note(kind: Kind, ms: number, status: number): void {
    if (status === 200) this.#values[kind].push(ms);
    else this.#failed[status] = (this.#failed[status] ?? 0) + 1;
  }

  /** The spreads since the last call. */
  take(): Record<Kind, Spread> & { failed: Record<number, number> } {
    const spread = (kind: Kind): Spread => {
      const values = this.#values[kind].splice(0);
      return { count: values.length, p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
    };
    const failed = this.#failed;
    this.#failed = {};
    return { post: spread('post'), page: spread('page'), failed };
  }
}
