import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { DirectLine, type Inbox, type Outlet } from '../../core/subscription.ts';
import { type CursorKeeper, toNanoseconds } from '../../events/cursor.ts';
import { readableChannels } from '../channels.service.ts';
import { eventsAfter } from './events.replay.ts';
import { readPositions } from './events.repository.ts';
import { type AddressedNotice, type ChannelNoticeView, type LoggedView, reloadOf } from './events.schema.ts';

/** How many passing notices wait for one subscriber; more are lost, as such notices may be. */
const MAX_NOTICES = 100;

const ALWAYS_OPEN: Outlet = { full: false, drained: async () => {} };

interface WaitingNotice {
  notice: ChannelNoticeView;
  /** For all who read this channel; null when it is for this person. */
  readersOf: string | null;
  isInDoubt: boolean;
  /** It comes after this event of its channel. */
  behind: number | undefined;
}

/** One subscriber's channels and how far it has read in each. */
export class Follower {
  readonly #scope: Scope;
  readonly #inbox: Inbox;
  readonly #keeper: CursorKeeper;
  readonly #wanted: string[] | null;
  readonly #watched = new Set<string>();
  readonly #positions = new Map<string, number>();
  /** Channels whose readers have changed, each with the number that new readers begin behind. */
  #changed = new Map<string, number>();
  /** Where to go on in channels that are out of reach now. */
  readonly #left = new Map<string, number>();
  /** Channels that go on when the outlet has drained. */
  readonly #stalled = new Set<string>();
  /** Channels whose numbers were given out before a backup was restored. */
  readonly #rewound = new Set<string>();
  #notices: WaitingNotice[] = [];
  #isRefreshing = false;
  readonly #outlet: Outlet;
  /** Where events can be sent without a turn of the stream; the door has to see it first. */
  readonly line: DirectLine | undefined;

  constructor(scope: Scope, inbox: Inbox, keeper: CursorKeeper, wanted: string[] | null) {
    this.#scope = scope;
    this.#inbox = inbox;
    this.#keeper = keeper;
    this.#wanted = wanted?.map((id) => id.toLowerCase()) ?? null;
    this.#outlet = scope.reply.outlet ?? ALWAYS_OPEN;
    this.line = this.#outlet.deliver && new DirectLine(this.#outlet.deliver);
    inbox.onClose(
      scope.hub.onEvent((event) => {
        if (this.#positions.has(event.channel_id) && !this.#deliver(event)) inbox.news(event.channel_id);
      }),
    );
    inbox.onClose(scope.hub.onNotice((addressed) => this.#keepNotice(addressed)));
    inbox.onClose(
      scope.bus.subscribe('channel.access', ({ channelId, since }) => {
        if (this.#wanted && !this.#wanted.includes(channelId)) return;
        if (!this.#changed.has(channelId)) this.#changed.set(channelId, since);
        inbox.doubt();
      }),
    );
    inbox.onClose(() => this.#unwatch([...this.#watched]));
  }

  /** Sends an event at once, if it is the next one and nothing waits before it: the way that nearly every event takes. */
  #deliver(event: LoggedView): boolean {
    const { channel_id, event_id } = event;
    const isNext = this.#positions.get(channel_id) === event_id - 1 && this.#stalled.size === 0;
    if (!isNext || !this.line?.isOpen || !this.#inbox.idle || this.#outlet.full) return false;
    this.line.send(this.noteHandedOut(event), event);
    this.settle();
    return true;
  }

  /** Notes that an event is handed out. Returns where the subscriber stands behind it. */
  noteHandedOut(event: LoggedView): string {
    const { channel_id, event_id } = event;
    this.#positions.set(channel_id, event_id);
    const at = 'created_at' in event ? event.created_at : Date.now() * 1_000_000;
    return this.#keeper.advance(channel_id, event_id, at);
  }

  /** Lets the cursor forget what it need not say, if everything that this process knows of was handed out. */
  settle(): void {
    if (this.#inbox.quiet && this.#stalled.size === 0 && this.#scope.hub.settled) this.#keeper.settle();
  }

  /** Follows what the caller may read now, and goes on there where the cursor stands. */
  async begin(): Promise<void> {
    await this.refresh(true);
    this.#keeper.keepAmong(this.#watched);
  }

  /** Brings what is followed in line with what the caller may read now: all channels, or those whose readers have changed. */
  async refresh(everything: boolean): Promise<void> {
    this.#isRefreshing = true;
    try {
      await this.#bringInLine(everything);
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #bringInLine(everything: boolean): Promise<void> {
    const { sql, hub } = this.#scope;
    const changed = this.#changed;
    this.#changed = new Map();
    const among = everything ? this.#wanted : await this.#amongChanged([...changed.keys()]);
    if (!everything && among?.length === 0) return;
    const readable = await this.#readable(among);
    if (this.#wanted && among?.some((id) => !readable.has(id))) throw new AppError('forbidden');
    const looked = everything ? [...this.#watched] : [...changed.keys()];
    const lost = looked.filter((id) => this.#watched.has(id) && !readable.has(id));
    for (const channelId of lost) this.#left.set(channelId, this.#positions.get(channelId) ?? 0);
    this.#unwatch(lost);

    const added = [...readable].filter((channelId) => !this.#watched.has(channelId));
    if (added.length === 0) return;
    await hub.watch(added);
    for (const channelId of added) this.#watched.add(channelId);
    if (this.#inbox.closed) return this.#unwatch(added);
    const { momentMicros } = this.#keeper;
    for (const { id, head, position } of await readPositions(sql, added, toNanoseconds(momentMicros))) {
      const begin = this.#left.get(id) ?? changed.get(id);
      this.#left.delete(id);
      // Where the moment says the same, the cursor needs no number.
      if (begin !== undefined && begin !== position) this.#keeper.begin(id, Math.min(begin, head));
      const number = this.#keeper.numberOf(id) ?? position;
      // A number beyond the log is from before a backup was restored; waiting for it would be waiting for ever.
      if (number > head) this.#rewound.add(id);
      this.#positions.set(id, Math.min(number, head));
      this.#inbox.news(id);
    }
  }

  /** Those that came within or out of reach: one statement tells it to all subscribers, and most of them need no more. */
  async #amongChanged(channelIds: string[]): Promise<string[]> {
    const { hub, actor } = this.#scope;
    const readers = await Promise.all(channelIds.map((id) => hub.readers(id, [actor.id])));
    return channelIds.filter((id, at) => readers[at]?.has(actor.id) !== this.#watched.has(id));
  }

  /** None while channels are switched off: whoever follows all of them just waits. */
  async #readable(among: string[] | null): Promise<Set<string>> {
    // Asking again notices another role, and a session that ended while notices were missed.
    const actor = await this.#scope.identify();
    try {
      return new Set(await readableChannels({ ...this.#scope, actor }, among));
    } catch (error) {
      if (error instanceof AppError) return new Set();
      throw error;
    }
  }

  #unwatch(channelIds: string[]): void {
    for (const channelId of channelIds) {
      this.#watched.delete(channelId);
      this.#positions.delete(channelId);
    }
    this.#scope.hub.unwatch(channelIds);
  }

  #keepNotice({ to, notice }: AddressedNotice): void {
    const channelId = notice.channel_id;
    const isMine =
      'userIds' in to
        ? to.userIds.includes(this.#scope.actor.id) && (this.#wanted?.includes(channelId) ?? true)
        : this.#positions.has(to.channelId);
    if (!isMine || this.#outlet.full || this.#notices.length >= MAX_NOTICES) return;
    const readersOf = 'channelId' in to ? to.channelId : null;
    const isInDoubt = readersOf !== null && (this.#inbox.interrupted || this.#isRefreshing);
    this.#notices.push({ notice, readersOf, isInDoubt, behind: this.#scope.hub.head(channelId) });
    this.#inbox.nudge();
  }

  /** Takes the notices that came before access was in doubt: above all, that the channel is gone. */
  takeCertainNotices(): WaitingNotice[] {
    const certain = this.#notices.filter(({ isInDoubt }) => !isInDoubt);
    this.#notices = this.#notices.filter(({ isInDoubt }) => isInDoubt);
    return certain;
  }

  /** Takes all notices, and drops those of channels that are out of reach now. */
  takeNotices(): WaitingNotice[] {
    const waiting = this.#notices;
    this.#notices = [];
    return waiting.filter(({ readersOf }) => readersOf === null || this.#positions.has(readersOf));
  }

  /**
   * What is new in a channel since the last call, up to a number where that is given. Stops short when access is in doubt, and
   * when the client does not read; the rest comes after the new look, or when the client has read.
   */
  async *catchUp(channelId: string, upTo = Number.POSITIVE_INFINITY): AsyncGenerator<LoggedView> {
    const position = this.#positions.get(channelId);
    if (position === undefined || position >= upTo || this.#stalled.has(channelId)) return;
    if (this.#rewound.delete(channelId)) yield reloadOf(channelId, position);
    for await (const event of eventsAfter(this.#scope.hub, channelId, position, this.#outlet)) {
      if (this.#inbox.interrupted || event.event_id > upTo) return this.#inbox.news(channelId);
      yield event;
    }
    if (this.#outlet.full) void this.#goOnLater(channelId);
  }

  async #goOnLater(channelId: string): Promise<void> {
    this.#stalled.add(channelId);
    await this.#outlet.drained();
    this.#stalled.delete(channelId);
    this.#inbox.news(channelId);
  }
}
