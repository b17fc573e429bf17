import { Counter, Gauge, Registry } from 'prom-client';
import type { Parts } from './scope.ts';

/**
 * Metrics that are read from the parts of one server at each scrape. Metrics that count what happens stand in the registry of the
 * process instead, beside the code that counts.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: this.#registers,
      collect() {
        this.set(read());
      },
    });
  }

  /** A gauge for each value of a label. */
  gaugeBy(label: string, name: string, help: string, read: () => Record<string, number>): void {
    new Gauge({
      name,
      help,
      registers: this.#registers,
      labelNames: [label],
      collect() {
        for (const [value, number] of Object.entries(read())) this.set({ [label]: value }, number);
      },
    });
  }

  /** @param read the total since the start of the process */
  counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: this.#registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}

/** Declares the metrics of a noun or of a shared part. `read` must not wait: a scrape asks no database. */
export type DeclareMetrics = (metrics: Metrics, parts: Parts) => void;
