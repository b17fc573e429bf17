import { type Random, shuffled } from '../setup/random.ts';

/** What can happen to an installation. `n` is the number of a server process. */
export const FAULTS = [
  'kill server 0',
  'kill server 1',
  'kill redis',
  'kill postgres',
  'pause server 0',
  'pause server 1',
  'pause redis',
  'pause postgres',
  'cut clients of server 0',
  'cut clients of server 1',
  'cut postgres from the servers',
  'cut redis from the servers',
  'fill the disk for uploads',
  'move the clock of server 1',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Planned {
  fault: Fault;
  /** Seconds from the start. */
  at: number;
  /** How long it lasts, in seconds. */
  lasts: number;
}

export const PAUSE_SECONDS = 10;
/** From the end of a fault to the next one: long enough to recover, short enough that recoveries overlap with load. */
const QUIET = { least: 3, most: 12 };
/** The share of a run at its end without faults. */
const CALM_END_SECONDS = 10;

/**
 * The faults of a run, one after the other, the same for the same seed. All kinds come once in each round, in another order. After the
 * first third `kill server 0` is left out: its memory is followed, and must not begin anew.
 */
export function planFaults(seconds: number, random: Random, kinds: readonly Fault[] = FAULTS): Planned[] {
  const planned: Planned[] = [];
  let round: Fault[] = [];
  let at = QUIET.least;
  for (;;) {
    if (round.length === 0) round = shuffled(kinds, random);
    const fault = round.pop();
    if (!fault) return planned;
    if (fault === 'kill server 0' && at > seconds / 3) {
      if (kinds.length === 1) return planned;
      continue;
    }
    const lasts = fault.startsWith('kill')
      ? random() * 4
      : fault.startsWith('cut')
        ? 1 + random() * 8
        : PAUSE_SECONDS;
    if (at + lasts > seconds - CALM_END_SECONDS) return planned;
    planned.push({ fault, at, lasts });
    at += lasts + QUIET.least + random() * (QUIET.most - QUIET.least);
  }
}
