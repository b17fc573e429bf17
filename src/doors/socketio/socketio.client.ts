import { watchCaller } from '../../auth/watch.ts';
import { rightsNotice } from '../../channels/events/events.kind.ts';
import { EVENT_PATHS } from '../../channels/events/events.schema.ts';
import { cutPath } from '../../core/access.ts';
import { runCall } from '../../core/limits/calls.ts';
import { type Actor, createScope, type Scope } from '../../core/scope.ts';
import { admitMember, type Context, runForRequest } from '../../core/trpc/admission.ts';
import { readableStreams } from '../../events/readable.ts';
import type { Start } from '../../events/subscriber/outlet.ts';
import { startNow } from '../../events/subscriber/start.ts';
import { Subscriber } from '../../events/subscriber/subscriber.ts';
import type { SocketOutlet } from './socketio.outlet.ts';

/** The paths that an API key must be allowed, when it is bound to some. */
const EVENT_DOOR = EVENT_PATHS.map(cutPath);

/** The person of a Socket.IO socket, and the subscriber that follows all streams which this person may read. */
export class EventClient {
  readonly #outlet: SocketOutlet;
  readonly #onEnded: () => void;
  /** The positions that the client came with, by the ids of the streams. */
  readonly #lastEventIds: Record<string, number>;
  #start: Start | undefined;
  #context: Context;
  #actor: Actor | null = null;
  #subscriber: Subscriber | undefined;
  #leavePresence = () => {};
  #unwatch = () => {};

  constructor(options: {
    outlet: SocketOutlet;
    context: Context;
    lastEventIds: Record<string, number>;
    /** Called when the session of the person has ended. */
    onEnded: () => void;
  }) {
    this.#outlet = options.outlet;
    this.#context = options.context;
    this.#lastEventIds = options.lastEventIds;
    this.#onEnded = options.onEnded;
  }

  /** Null before the socket was admitted. */
  get actor(): Actor | null {
    return this.#actor;
  }

  get context(): Context {
    return this.#context;
  }

  /**
   * Notes the positions from which the client gets every event, though it follows its streams only later.
   *
   * @throws AppError when the client is not admitted
   */
  async standWhereNow(context: Context): Promise<Actor> {
    const { parts } = context;
    return runForRequest(context, 'connect', async () => {
      const actor = await admitMember(context, EVENT_DOOR);
      if (this.#start) return actor;
      return runCall(actor.id, {}, async () => {
        const readable = () => readableStreams(scopeOf(context, actor), parts.hub.kinds, null);
        const start = await startNow(parts.hub, readable, this.#lastEventIds);
        this.#start ??= start;
        return actor;
      });
    });
  }

  /** Gives the socket to a person. Resolves when it follows that person's streams, or when it was refused. */
  async become(context: Context, actor: Actor): Promise<void> {
    const { presence, bus } = context.parts;
    this.#context = context;
    if (this.#actor?.id !== actor.id) {
      this.#leavePresence();
      this.#leavePresence = presence.enter(actor.id);
    }
    this.#actor = actor;
    this.#subscriber?.become(actor.id);
    if (!this.#subscriber) {
      this.#subscriber = this.#subscribe(actor);
      const recheck = () => void this.#subscriber?.recheck();
      this.#unwatch = watchCaller(bus, { actorOf: () => this.#actor, recheck, end: this.#onEnded });
    }
    await this.#subscriber.recheck(false);
  }

  /** The scope of an operation, for the present person and rights. @throws AppError when the client is not admitted any more */
  async openScope(): Promise<Scope> {
    return scopeOf(this.#context, await admitMember(this.#context, EVENT_DOOR));
  }

  close(): void {
    this.#leavePresence();
    this.#unwatch();
    this.#subscriber?.close();
  }

  #subscribe(actor: Actor): Subscriber {
    const { id } = actor;
    const { hub, log } = this.#context.parts;
    if (!this.#start) throw new Error('A client begins where it stood when it was let in.');
    return new Subscriber({
      hub,
      outlet: this.#outlet,
      start: this.#start,
      log,
      connection: this.#context.request.id,
      userId: id,
      only: null,
      askReadable: async (among) => {
        const context = this.#context;
        const actor = await admitMember(context, EVENT_DOOR);
        if (this.#context === context) this.#actor = actor;
        return runCall(actor.id, {}, () => readableStreams(scopeOf(context, actor), hub.kinds, among));
      },
      rightsNotice: () => rightsNotice(this.#actor ?? actor),
      run: (work) => runCall(this.#actor?.id ?? id, {}, work),
    });
  }
}

function scopeOf({ parts, request, reply }: Context, actor: Actor): Scope {
  return createScope({ parts, actor, request, reply, identify: async () => actor, signal: undefined });
}
