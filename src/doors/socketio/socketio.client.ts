import { z } from 'zod';
import { readableChannels } from '../../channels/channels.service.ts';
import { eventsAfter } from '../../channels/events/events.replay.ts';
import { readClock, readHeads, readPositions } from '../../channels/events/events.repository.ts';
import {
  type ChannelNoticeView,
  EVENT_PATHS,
  type LoggedView,
  reloadOf,
} from '../../channels/events/events.schema.ts';
import { cutPath } from '../../core/access.ts';
import { runCall } from '../../core/calls.ts';
import { AppError } from '../../core/errors.ts';
import { type Actor, createScope, type Scope } from '../../core/scope.ts';
import type { Outlet } from '../../core/subscription.ts';
import { admitMember, type Context } from '../../core/trpc.ts';
import { toNanoseconds } from '../../events/cursor.ts';
import { traffic } from '../metrics/metrics.sockets.ts';

/** Which names of events a socket wants: one name for all, each type's own, or both. */
export const Habit = z.enum(['envelope', 'named', 'both']);
export type Habit = z.infer<typeof Habit>;

export const ENVELOPE = 'events:channel';
export const channelRoom = (channelId: string, habit: Habit) => `channel:${channelId}:${habit}`;
export const userRoom = (userId: string, habit: Habit) => `user:${userId}:${habit}`;

/** What a key that is bound to some paths must be allowed. */
const EVENT_DOOR = EVENT_PATHS.map(cutPath);

/** What goes out to clients: a channel's log, and notices. */
export type Told = LoggedView | ChannelNoticeView;

const namesFor = (habit: Habit, told: Told): string[] => [
  ...(habit === 'named' ? [] : [ENVELOPE]),
  ...(habit === 'envelope' ? [] : [told.data.type]),
];

/** What is used of a Socket.IO socket. */
interface RoomSocket {
  emit(name: string, told: Told): unknown;
  join(room: string): unknown;
  leave(room: string): unknown;
}

/** Where a socket stands in a channel that it hears. */
interface Place {
  /** The number of the last event that it was sent; of no meaning once it is in the room. */
  position: number;
  inRoom: boolean;
  /** How many answers to the question whether it may still read the channel are awaited; it is sent nothing meanwhile. */
  holds: number;
}

/** The channels that one socket hears: which they are, how it comes into their rooms, and what it is sent before that. */
export class EventClient {
  readonly #socket: RoomSocket;
  #habit: Habit;
  readonly #outlet: Outlet;
  readonly #fail: (error: unknown) => void;
  readonly #places = new Map<string, Place>();
  /** Where the client goes on in channels that it does not hear now. */
  readonly #resume: Map<string, number>;
  /** Since when it is due the events of any other channel that it comes to read; null before it has proved who it is. */
  #sinceMicros: number | null = null;
  #context: Context;
  #actor: Actor | null = null;
  /** Whether access must be looked at (again): an answer that was asked for before is not acted upon. */
  #isInDoubt = false;
  #refreshing: Promise<void> | undefined;
  /** Channels are replayed one after the other, so that a client with many costs no more than one with one. */
  #replaying = Promise.resolve();
  #isClosed = false;
  #leavePresence = () => {};

  constructor(options: {
    socket: RoomSocket;
    habit: Habit;
    outlet: Outlet;
    context: Context;
    lastEventIds: Record<string, number>;
    /** Called when what goes on by itself fails, and the socket cannot stay. */
    fail: (error: unknown) => void;
  }) {
    this.#socket = options.socket;
    this.#habit = options.habit;
    this.#outlet = options.outlet;
    this.#context = options.context;
    this.#fail = options.fail;
    this.#resume = new Map(Object.entries(options.lastEventIds));
  }

  /** Who it is; null before it was let in. */
  get actor(): Actor | null {
    return this.#actor;
  }

  get context(): Context {
    return this.#context;
  }

  /**
   * Lets a client count on every event from now on, though it enters the rooms only later.
   *
   * @throws AppError when it may not be here
   */
  async standWhereNow(context: Context): Promise<Actor> {
    const { sql } = context.parts;
    const actor = await admitMember(context, EVENT_DOOR);
    if (this.#sinceMicros !== null) return actor;
    return runCall(actor.id, {}, async () => {
      const now = await readClock(sql);
      for (const [channelId, head] of await readHeads(sql, await readableTo(context, actor))) {
        if (!this.#resume.has(channelId)) this.#resume.set(channelId, head);
      }
      this.#sinceMicros = now;
      return actor;
    });
  }

  /** Takes the socket as theirs from now on; `refresh` brings their channels. */
  become(context: Context, actor: Actor): void {
    const { presence } = context.parts;
    if (this.#actor?.id !== actor.id) {
      this.#leavePresence();
      this.#socket.leave(userRoom(this.#actor?.id ?? '', this.#habit));
      this.#leavePresence = presence.enter(actor.id);
    }
    this.#context = context;
    this.#actor = actor;
    this.#socket.join(userRoom(actor.id, this.#habit));
  }

  /** Sends events under other names from now on. */
  changeHabit(habit: Habit): void {
    if (habit === this.#habit) return;
    const rooms = [...this.#places].flatMap(([id, { inRoom }]) => (inRoom ? [id] : []));
    const roomsOf = (of: Habit) => [
      ...(this.#actor ? [userRoom(this.#actor.id, of)] : []),
      ...rooms.map((id) => channelRoom(id, of)),
    ];
    for (const room of roomsOf(this.#habit)) this.#socket.leave(room);
    for (const room of roomsOf(habit)) this.#socket.join(room);
    this.#habit = habit;
  }

  /** What an operation of theirs needs, for whoever they are now. @throws AppError when they may not be here */
  async openScope(): Promise<Scope> {
    return scopeOf(this.#context, await admitMember(this.#context, EVENT_DOOR));
  }

  /** Tells what must not wait for a replay that is under way; in the room it is heard anyway. */
  tellBeforeRoom(channelId: string, notice: ChannelNoticeView): void {
    if (this.#places.get(channelId)?.inRoom === false) this.#tell(notice);
  }

  /** Looks anew at who this is and which channels they may read. Resolves when it hears those. @throws AppError */
  refresh(): Promise<void> {
    this.#isInDoubt = true;
    this.#refreshing ??= this.#bringInLine();
    return this.#refreshing;
  }

  /** The same when they may have lost some of them: nothing more is sent of any before the answer. @throws AppError */
  async reconsider(): Promise<void> {
    const held = [...this.#places.keys()];
    for (const channelId of held) this.hold(channelId);
    await this.refresh();
    for (const channelId of held) this.release(channelId);
  }

  /** Sends nothing more of a channel whose readers have changed, before `realign` or `release`. */
  hold(channelId: string): void {
    // An answer that is under way may be from before the change.
    if (this.#refreshing) this.#isInDoubt = true;
    const place = this.#places.get(channelId);
    if (!place) return;
    const position = this.#positionIn(channelId, place);
    // Another place than before also ends a replay.
    this.#places.set(channelId, { position, inRoom: false, holds: place.holds + 1 });
    this.#socket.leave(channelRoom(channelId, this.#habit));
  }

  /** Goes on in a channel that was held and that the client may still read, where it stopped. */
  release(channelId: string): void {
    const place = this.#places.get(channelId);
    if (!place || place.holds === 0) return;
    place.holds -= 1;
    if (place.holds === 0) this.#catchUp(channelId, place);
  }

  /** Takes in that who may read a channel has changed. @param since new readers are due the events after this one */
  realign(channelId: string, mayRead: boolean, since: number): void {
    const isHere = this.#places.has(channelId);
    if (isHere && mayRead) this.release(channelId);
    if (isHere && !mayRead) this.#leave(channelId);
    if (!isHere && mayRead && !this.#resume.has(channelId)) this.#resume.set(channelId, since);
    // A look that is under way may have asked before the change.
    if (isHere !== mayRead || this.#refreshing) this.refresh().catch(this.#fail);
  }

  close(): void {
    this.#isClosed = true;
    this.#leavePresence();
    this.#context.parts.hub.unwatch(this.#places.keys());
    this.#places.clear();
  }

  async #bringInLine(): Promise<void> {
    try {
      while (this.#isInDoubt && !this.#isClosed) {
        this.#isInDoubt = false;
        const actor = await admitMember(this.#context, EVENT_DOOR);
        const readable = new Set(await runCall(actor.id, {}, () => readableTo(this.#context, actor)));
        if (this.#isClosed || this.#isInDoubt) continue;
        this.#actor = actor;
        for (const channelId of this.#places.keys()) if (!readable.has(channelId)) this.#leave(channelId);
        const added = [...readable].filter((channelId) => !this.#places.has(channelId));
        await runCall(actor.id, {}, () => this.#follow(added));
      }
    } finally {
      this.#refreshing = undefined;
    }
  }

  async #follow(added: string[]): Promise<void> {
    if (added.length === 0) return;
    const { hub, sql } = this.#context.parts;
    const begin = added.filter((channelId) => !this.#resume.has(channelId));
    if (begin.length > 0) {
      const moment = toNanoseconds(this.#sinceMicros ?? 0);
      for (const { id, position } of await readPositions(sql, begin, moment)) this.#resume.set(id, position);
    }
    await hub.watch(added);
    const ahead = added.filter((channelId) => (this.#resume.get(channelId) ?? 0) > this.#head(channelId));
    // This process may not have heard of an event yet that the client has had from another.
    const heads = ahead.length > 0 ? await readHeads(sql, ahead) : new Map<string, number>();
    if (this.#isClosed || this.#isInDoubt) return hub.unwatch(added);
    for (const [channelId, head] of heads) {
      if ((this.#resume.get(channelId) ?? 0) <= head) continue;
      // The number is from before a backup was restored.
      this.#tell(reloadOf(channelId, head));
      this.#resume.set(channelId, head);
    }
    for (const channelId of added) this.#enter(channelId);
  }

  #enter(channelId: string): void {
    const position = this.#resume.get(channelId) ?? Number.POSITIVE_INFINITY;
    const place = { position, inRoom: false, holds: 0 };
    this.#resume.delete(channelId);
    this.#places.set(channelId, place);
    this.#catchUp(channelId, place);
  }

  #catchUp(channelId: string, place: Place): void {
    if (place.position >= this.#head(channelId)) this.#join(channelId, place);
    else this.#replaying = this.#replaying.then(() => this.#replay(channelId, place)).catch(this.#fail);
  }

  /** Sends what was missed, at the client's pace, for as long as it may read the channel. */
  async #replay(channelId: string, place: Place): Promise<void> {
    const { hub } = this.#context.parts;
    const isOver = () => this.#places.get(channelId) !== place;
    // Between the last look at the head and the room no event fits.
    while (!isOver() && place.position < this.#head(channelId)) {
      await this.#outlet.drained();
      const before = place.position;
      for await (const event of eventsAfter(hub, channelId, before, this.#outlet)) {
        // The log may be ahead of the hub, which will tell the rooms.
        if (isOver() || event.event_id > this.#head(channelId)) break;
        this.#tell(event);
        place.position = event.event_id;
      }
      if (place.position > before) continue;
      // What only the log knows is told to the rooms by the hub.
      const [next] = await hub.after(channelId, before, 1);
      if (!next || next.event_id > this.#head(channelId)) break;
    }
    if (!isOver()) this.#join(channelId, place);
  }

  #tell(told: Told): void {
    if ('event_id' in told) traffic.socketio.delivered += 1;
    for (const name of namesFor(this.#habit, told)) this.#socket.emit(name, told);
  }

  #join(channelId: string, place: Place): void {
    place.inRoom = true;
    this.#socket.join(channelRoom(channelId, this.#habit));
  }

  /** Whoever gets access back goes on where they stopped. */
  #leave(channelId: string): void {
    const place = this.#places.get(channelId);
    if (!place) return;
    this.#resume.set(channelId, this.#positionIn(channelId, place));
    this.#places.delete(channelId);
    this.#socket.leave(channelRoom(channelId, this.#habit));
    this.#context.parts.hub.unwatch([channelId]);
  }

  #positionIn(channelId: string, { inRoom, position }: Place): number {
    return inRoom ? this.#head(channelId) : position;
  }

  #head(channelId: string): number {
    return this.#context.parts.hub.head(channelId) ?? 0;
  }
}

function scopeOf({ parts, request, reply }: Context, actor: Actor): Scope {
  return createScope({ parts, actor, request, reply, identify: async () => actor, signal: undefined });
}

/** None when the caller may not use channels: the socket stays for other events. */
async function readableTo(context: Context, actor: Actor): Promise<string[]> {
  try {
    return await readableChannels(scopeOf(context, actor));
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
