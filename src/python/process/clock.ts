/** Fires once, after the given total time. Pauses do not count, and pauses may overlap. */
export class Clock {
  readonly #onEnd: () => void;
  #leftMs: number;
  #startedAt = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeMs: number, onEnd: () => void) {
    this.#leftMs = timeMs;
    this.#onEnd = onEnd;
    this.#run();
  }

  #run(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onEnd, this.#leftMs);
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  /** Ends one pause. */
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#run();
  }

  /** Stops the clock for good: a later `resume` has no effect. */
  stop(): void {
    this.#pauses = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
  }
}
