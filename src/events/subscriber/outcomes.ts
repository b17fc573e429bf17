import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import type { Outlet } from './outlet.ts';

/** The outcome of an event or a notice for one subscriber. CONTRIBUTING ("Why was an event not delivered?") explains each. */
export const OUTCOMES = [
  'sent',
  'held',
  'not_readable',
  'already_had',
  'later',
  'notice_dropped',
  'reload',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Plain numbers, because one event may go to thousands of subscribers. */
const counts: Record<Outlet['door'], Record<Outcome, number>> = { trpc: none(), socketio: none() };

function none(): Record<Outcome, number> {
  return { sent: 0, held: 0, not_readable: 0, already_had: 0, later: 0, notice_dropped: 0, reload: 0 };
}

new Counter({
  name: 'parley_event_outcomes_total',
  help: 'What became of events and notices, once for each subscriber',
  labelNames: ['door', 'outcome'],
  collect() {
    this.reset();
    for (const [door, numbers] of Object.entries(counts))
      for (const [outcome, number] of Object.entries(numbers)) this.inc({ door, outcome }, number);
  },
});

/** Counts outcomes for one subscriber, and logs them at `LOG_LEVEL=debug`. */
export class Outcomes {
  readonly #counts: Record<Outcome, number>;
  readonly #log: Logger;
  readonly #about: { connection: string; door: string };

  constructor(door: Outlet['door'], connection: string, log: Logger) {
    this.#counts = counts[door];
    this.#log = log;
    this.#about = { connection, door };
  }

  /** @param number of the (first) event; null for a notice */
  note(outcome: Outcome, userId: string, stream: string, number: number | null, count = 1): void {
    this.#counts[outcome] += count;
    if (this.#log.isLevelEnabled('debug')) this.tell(outcome, userId, stream, number);
  }

  /** Writes the line without counting. */
  tell(outcome: Outcome, userId: string, stream: string, number: number | null): void {
    this.#log.debug(
      { ...this.#about, user: userId, stream, event: number, outcome },
      'Event for a subscriber',
    );
  }
}
