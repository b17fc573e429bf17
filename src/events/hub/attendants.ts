import type { AccessChange, StreamEvent, StreamNotice } from '../streams.ts';
import type { Follower } from './sequence.ts';

/** A subscriber of this process, whichever streams it follows. */
export interface Attendant extends Follower {
  readonly userId: string;
  /** A notice to this person. */
  noticeToPerson(notice: StreamNotice): void;
  /** The readers of a stream have changed. */
  access(change: AccessChange): void;
  /** Called for each event at debug level: logs an event that is not offered to the subscriber. */
  explain(event: StreamEvent): void;
}

/** The subscribers of this process, all of them and by person. */
export class Attendants {
  readonly #all = new Set<Attendant>();
  readonly #byUser = new Map<string, Set<Attendant>>();

  /** Returns a function that removes it. */
  add(attendant: Attendant): () => void {
    const { userId } = attendant;
    const ofUser = this.#byUser.get(userId) ?? new Set();
    this.#byUser.set(userId, ofUser.add(attendant));
    this.#all.add(attendant);
    return () => {
      this.#all.delete(attendant);
      ofUser.delete(attendant);
      if (ofUser.size === 0 && this.#byUser.get(userId) === ofUser) this.#byUser.delete(userId);
    };
  }

  access(change: AccessChange): void {
    for (const attendant of this.#all) attendant.access(change);
  }

  explain(event: StreamEvent): void {
    for (const attendant of this.#all) attendant.explain(event);
  }

  noticeToPeople(userIds: readonly string[], notice: StreamNotice): void {
    for (const userId of userIds)
      for (const attendant of this.#byUser.get(userId) ?? []) attendant.noticeToPerson(notice);
  }
}
