import type { Logger } from 'pino';
import type { Attendant } from '../hub/attendants.ts';
import type { EventHub } from '../hub/hub.ts';
import type { AccessChange, StreamEvent, StreamNotice } from '../streams.ts';
import { Access, type AccessOptions, type Asking } from './access.ts';
import { type Begin, findBegins } from './begins.ts';
import { CatchUp } from './catchup.ts';
import type { Followed, State } from './followed.ts';
import { OwedNotices, WaitingNotices } from './notices.ts';
import { type Outcome, Outcomes } from './outcomes.ts';
import type { Outlet, Start } from './outlet.ts';

export interface SubscriberOptions {
  hub: EventHub;
  outlet: Outlet;
  start: Start;
  log: Logger;
  /** Names the connection in the log. */
  connection: string;
  userId: string;
  /** The only streams of the subscription; null for all that the person may read. */
  only: readonly string[] | null;
  askReadable: AccessOptions['askReadable'];
  /** The notice that the rights of the person may have changed. */
  rightsNotice(): StreamNotice;
  /** Runs reads for the person as one of their calls. */
  run?: ((work: () => Promise<void>) => Promise<void>) | undefined;
}

/**
 * One subscriber of any door: its streams, its position in each, and the events that it is sent.
 *
 * An event takes this way: the hub calls `event`; a `live` stream sends it at once; otherwise the event is read from the log when the
 * stream is caught up (`catchup.ts`). A change of access calls `access` or `recheck`: the streams concerned are `held` until the
 * answer (`access.ts`), then they go on where they stopped, or are left.
 */
export class Subscriber implements Attendant, Asking {
  readonly #options: SubscriberOptions;
  readonly #hub: EventHub;
  readonly #outlet: Outlet;
  readonly #outcomes: Outcomes;
  readonly #only: ReadonlySet<string> | null;
  readonly #followed = new Map<string, Followed>();
  /** How many of them are not `live`. */
  #lagging = 0;
  readonly #catchUp: CatchUp;
  readonly #waiting = new WaitingNotices();
  readonly #owed: OwedNotices;
  /** The positions in streams that it may not read now. */
  readonly #left = new Map<string, number>();
  readonly #access: Access;
  #userId: string;
  #leaveHub: () => void;
  #isClosed = false;
  #failure: unknown;

  constructor(options: SubscriberOptions) {
    const { hub, outlet, log, connection, userId, only, askReadable } = options;
    this.#options = options;
    this.#hub = hub;
    this.#outlet = outlet;
    this.#outcomes = new Outcomes(outlet.door, connection, log);
    this.#only = only && new Set(only);
    this.#access = new Access(this, { readers: hub.readers, only: this.#only, askReadable });
    this.#catchUp = new CatchUp(
      {
        followed: (stream) => this.#followed.get(stream),
        send: (followed, event) => this.#send(followed, event),
        goLive: (stream, followed) => this.#goLive(stream, followed),
        close: (failure) => this.close(failure),
      },
      options,
    );
    this.#owed = new OwedNotices(outlet, (notice) => this.#passOn(notice));
    this.#userId = userId;
    this.#leaveHub = hub.attend(this);
  }

  get userId(): string {
    return this.#userId;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get streams(): Iterable<string> {
    return this.#followed.keys();
  }

  isFollowing(stream: string): boolean {
    return this.#followed.has(stream);
  }

  /** Follows what the person may read now. Every event that is logged after the promise resolves is sent. @throws AppError */
  async open(): Promise<void> {
    await this.recheck(false);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Gives the connection to another person; `recheck` then follows that person's streams. */
  become(userId: string): void {
    if (userId === this.#userId || this.#isClosed) return;
    this.#leaveHub();
    this.#userId = userId;
    this.#leaveHub = this.#hub.attend(this);
  }

  /** Ends the subscriber. @param failure the reason; undefined when the client left */
  close(failure?: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure = failure;
    this.#leaveHub();
    this.#hub.unfollow(this.#followed.keys(), this);
    this.#followed.clear();
    this.#waiting.clear();
    this.#owed.clear();
    this.#outlet.end(failure);
  }

  // Events and notices from the hub.

  event(event: StreamEvent): void {
    const followed = this.#followed.get(event.stream);
    // The stream is about to be followed; the event is then read from the log.
    if (!followed) return;
    const reason = this.#whyNotNow(followed, event);
    if (reason) {
      this.#note(reason, event);
      if (reason === 'later' && followed.state === 'live') this.#fallBehind(event.stream, followed);
    } else {
      this.#send(followed, event);
      this.#settle();
    }
  }

  #whyNotNow({ state, position }: Followed, { number }: StreamEvent): Outcome | undefined {
    if (state === 'held') return 'held';
    if (number <= position) return 'already_had';
    if (state === 'behind' || number !== position + 1) return 'later';
    return this.#isBlocked ? 'later' : undefined;
  }

  /** Whether the client leaves so much unread that live events wait in the log, and notices are dropped. */
  get #isBlocked(): boolean {
    return this.#outlet.waits && this.#outlet.full;
  }

  /** A notice to all followers of its stream. */
  notice(notice: StreamNotice): void {
    const followed = this.#followed.get(notice.stream);
    const isDue = followed && (followed.state === 'live' || notice.isFarewell);
    if (isDue) this.#passOn(notice);
    else this.#keepNotice(notice, false);
  }

  noticeToPerson(notice: StreamNotice): void {
    if (this.#only && !this.#only.has(notice.stream)) return;
    const followed = this.#followed.get(notice.stream);
    if (!followed || followed.state === 'live') this.#passOn(notice);
    else this.#keepNotice(notice, true);
  }

  /** At debug level: logs an event that is not offered to this subscriber. */
  explain(event: StreamEvent): void {
    if (!this.#followed.has(event.stream))
      this.#outcomes.tell('not_readable', this.#userId, event.stream, event.number);
  }

  #send(followed: Followed, event: StreamEvent): void {
    followed.position = event.number;
    this.#note(event.isReload ? 'reload' : 'sent', event);
    this.#outlet.event(event);
  }

  #passOn(notice: StreamNotice): void {
    if (this.#isBlocked) {
      if (!notice.mustArrive || !this.#owed.add(notice)) this.#note('notice_dropped', notice);
      return;
    }
    this.#note('sent', notice);
    this.#outlet.notice(notice);
  }

  /** Tells the client of streams that are gone, or not readable any more, before the subscriber followed them. */
  #tellOfLost(streams: Iterable<string>): void {
    const lost = [...streams];
    if (this.#isClosed || lost.length === 0) return;
    for (const stream of lost) {
      this.#options.start.expected.delete(stream);
      const farewell = this.#hub.farewell(stream);
      if (farewell) this.#passOn(farewell);
    }
    this.tellRights();
  }

  #keepNotice(notice: StreamNotice, isForPerson: boolean): void {
    const isKept = !this.#isBlocked && this.#waiting.add({ notice, isForPerson });
    this.#note(isKept ? 'held' : 'notice_dropped', notice);
  }

  #passOnWaiting(stream: string): void {
    for (const { notice } of this.#waiting.take(stream)) this.#passOn(notice);
  }

  #note(outcome: Outcome, told: StreamEvent | StreamNotice): void {
    const number = 'number' in told ? told.number : null;
    this.#outcomes.note(outcome, this.#userId, told.stream, number);
  }

  /** Tells the outlet when every event that this process knows of was sent. */
  #settle(): void {
    if (this.#lagging === 0 && !this.#access.isAsking && !this.#isClosed && this.#hub.settled)
      this.#outlet.settled?.();
  }

  // States of a stream.

  #setState(followed: Followed, state: State): void {
    this.#lagging += Number(followed.state === 'live') - Number(state === 'live');
    followed.state = state;
  }

  #fallBehind(stream: string, followed: Followed): void {
    this.#setState(followed, 'behind');
    this.#catchUp.begin(stream);
  }

  /** Sends nothing more of a stream before its access is known, except notices that came earlier. */
  #hold(stream: string, followed: Followed): void {
    if (followed.state === 'held') return;
    this.#passOnWaiting(stream);
    this.#setState(followed, 'held');
  }

  #goOn(stream: string, followed: Followed): void {
    const hasAll = !followed.isRewound && followed.position >= (this.#hub.head(stream) ?? 0);
    if (hasAll) this.#goLive(stream, followed);
    else this.#fallBehind(stream, followed);
  }

  #goLive(stream: string, followed: Followed): void {
    this.#setState(followed, 'live');
    this.#passOnWaiting(stream);
    this.#settle();
  }

  access(change: AccessChange): void {
    if (this.#only && !this.#only.has(change.stream)) return;
    const followed = this.#followed.get(change.stream);
    if (followed) this.#hold(change.stream, followed);
    this.#access.doubt(change);
  }

  /** Checks person and access anew, and tells the client unless the subscriber begins. Resolves as `Access.doubtAll`. */
  async recheck(isChange = true): Promise<void> {
    if (this.#isClosed) return;
    for (const [stream, followed] of this.#followed) this.#hold(stream, followed);
    await this.#access.doubtAll(isChange);
    // What the person could read when the client was let in, and could not read at the first answer.
    this.#tellOfLost(this.#options.start.expected);
    this.#settle();
  }

  tellRights(): void {
    if (!this.#isClosed) this.#passOn(this.#options.rightsNotice());
  }

  leave(stream: string): void {
    const followed = this.#followed.get(stream);
    if (!followed) return;
    const unread = (this.#hub.head(stream) ?? 0) - followed.position;
    if (unread > 0) this.#outcomes.note('not_readable', this.#userId, stream, followed.position + 1, unread);
    this.#setState(followed, 'live');
    this.#followed.delete(stream);
    this.#left.set(stream, followed.position);
    this.#hub.unfollow([stream], this);
    for (const { notice, isForPerson } of this.#waiting.take(stream)) {
      if (isForPerson) this.#passOn(notice);
      else this.#note('not_readable', notice);
    }
  }

  async follow(added: string[], since: ReadonlyMap<string, number>): Promise<void> {
    const { run = (work) => work() } = this.#options;
    await run(async () => {
      await this.#hub.follow(added, this);
      let begins: ReadonlyMap<string, Begin> = new Map();
      try {
        if (!this.#isClosed) begins = await this.#findBegins(added, since);
      } finally {
        const left = added.filter((stream) => this.#isClosed || !begins.has(stream));
        this.#hub.unfollow(left, this);
        for (const stream of left) this.#waiting.take(stream);
      }
      this.#tellOfLost(added.filter((stream) => !begins.has(stream)));
      if (!this.#isClosed) for (const [stream, begin] of begins) this.#enter(stream, begin);
    });
  }

  #findBegins(added: string[], since: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, Begin>> {
    const { start } = this.#options;
    const numberOf = (stream: string) =>
      this.#left.get(stream) ?? start.numberOf(stream) ?? since.get(stream);
    return findBegins(this.#hub, added, numberOf, start.momentMicros);
  }

  #enter(stream: string, { number, head, isByMoment }: Begin): void {
    const followed: Followed = {
      state: 'live',
      position: Math.min(number, head),
      isRewound: number > head,
    };
    this.#followed.set(stream, followed);
    this.#left.delete(stream);
    this.#options.start.expected.delete(stream);
    if (!isByMoment) this.#options.start.begin(stream, followed.position);
    this.#setState(followed, 'held');
    if (!this.#access.isInDoubt(stream)) this.release(stream);
  }

  release(stream: string): void {
    const followed = this.#followed.get(stream);
    if (followed?.state === 'held') this.#goOn(stream, followed);
  }
}
