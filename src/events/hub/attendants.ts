import type { AccessChange, StreamEvent, StreamNotice } from '../streams.ts';
import type { Follower } from './sequence.ts';

/** A subscriber of this process, whichever streams it follows. */
export interface Attendant extends Follower {
  readonly userId: string;
  /** A notice to this person. */
  noticeToPerson(notice: StreamNotice): void;
  /** Who may read a stream has changed. */
  access(change: AccessChange): void;
  /** Called for each event at debug level: tells the log where the subscriber is not even offered it. */
  explain(event: StreamEvent): void;
}

/** The subscribers of this process, and by the person of each. */
export class Attendants {
  readonly #all = new Set<Attendant>();
  readonly #byUser = new Map<string, Set<Attendant>>();

  /** Returns how to take it out. */
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
