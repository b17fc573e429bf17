/**
 * What a subscriber does with the events of a stream that it follows:
 * - `live`: it has everything that was handed out, and sends the next event at once;
 * - `behind`: it reads missed events from the log, then goes `live`;
 * - `held`: access is checked anew, and nothing is sent before the answer.
 */
export type State = 'live' | 'behind' | 'held';

/** A stream that a subscriber follows. */
export interface Followed {
  state: State;
  /** The number of the last event that the client has. */
  position: number;
  /** Whether the client came with a number beyond the log: a backup was restored, and the client gets a reload. */
  isRewound: boolean;
}
