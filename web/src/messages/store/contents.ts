import type { ChannelEvent, ChannelNotice, Message } from '@parley/client';
import {
  grow,
  isGone,
  isMessageEvent,
  type MessageEvent,
  merge,
  withOwnReactions,
  withQuote,
} from './changes.ts';
import type { Page } from './source.ts';
import { EMPTY, inserted, type Window } from './window.ts';

/** More messages are dropped at the other end. */
export const MOST = 400;

interface Owner {
  channelId: string;
  /** The root of a thread; null for the main line. */
  threadId: string | null;
  me: { id: string; name: string };
}

/** The messages of one part of a channel, and what events make of them. */
export class Contents {
  window = EMPTY;
  /** True while the reader is at the newest message. */
  isFollowed = true;
  readonly #owner: Owner;
  readonly #byId = new Map<string, Message>();
  /** React's key of own messages: that of the row that waited in the outbox. */
  readonly #keys = new Map<string, string>();

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  get(id: string): Message | undefined {
    return this.#byId.get(id);
  }

  keyOf(id: string): string {
    return this.#keys.get(id) ?? id;
  }

  /** Another part of the channel. */
  show(page: Page, id: number, change: Partial<Window>): void {
    this.#byId.clear();
    this.keep(page);
    const { messages, hasOlder, hasNewer } = page;
    const ids = messages.map((message) => message.id);
    this.window = { ...this.window, ids, hasOlder, hasNewer, id, status: 'ready', error: null, ...change };
  }

  keep({ messages }: Page): void {
    for (const message of messages) this.#byId.set(message.id, message);
  }

  /** Forgets messages that the window does not name. */
  drop(): void {
    const shown = new Set(this.window.ids);
    for (const id of this.#byId.keys()) if (!shown.has(id)) this.#byId.delete(id);
  }

  replace(message: Message): void {
    if (this.#byId.has(message.id)) this.#byId.set(message.id, message);
  }

  /** The answer to an own post, which may come before its event. */
  posted(message: Message, tempId: string): void {
    this.#keys.set(message.id, tempId);
    this.#insert(message);
  }

  /** Returns the id of a message that lacks text before the text of the event; else null. */
  apply(item: ChannelEvent | ChannelNotice): string | null {
    const { data } = item;
    if (data.type === 'message:delta') return this.#grow(item.message_id ?? '', data.data);
    if ('event_id' in item && isMessageEvent(item.data)) this.#change(item.data, item.user.id);
    return null;
  }

  #change({ type, data: next }: MessageEvent, actorId: string): void {
    const { me } = this.#owner;
    if (type === 'message') {
      if (next.temp_id && actorId === me.id) this.#keys.set(next.id, next.temp_id);
      this.#insert(next);
      return;
    }
    const known = this.#byId.get(next.id);
    if (type === 'message:delete' && isGone(next)) this.#remove(next.id);
    else if (known) {
      const changed = type.startsWith('message:reaction')
        ? { name: next.name ?? '', userId: actorId, isAdded: type === 'message:reaction:add' }
        : undefined;
      this.#byId.set(next.id, withOwnReactions(known, merge(known, next), me, changed));
    }
    if (type !== 'message:update' && type !== 'message:delete') return;
    for (const [id, message] of this.#byId) this.#byId.set(id, withQuote(message, next));
  }

  #belongs({ parent_id, channel_id }: Message): boolean {
    return channel_id === this.#owner.channelId && parent_id === this.#owner.threadId;
  }

  #insert(message: Message): void {
    if (!this.#belongs(message) || this.#byId.has(message.id) || this.window.status !== 'ready') return;
    const isOwn = message.user_id === this.#owner.me.id;
    const arrived = this.window.arrived + (isOwn ? 0 : 1);
    // A reader far above does not need the messages of hours: they are read when the list gets there.
    const isFull = this.window.ids.length >= MOST && !this.isFollowed;
    if (this.window.hasNewer || isFull) {
      this.window = { ...this.window, hasNewer: true, arrived };
      return;
    }
    this.#byId.set(message.id, message);
    const ids = inserted(this.window.ids, message, (id) => this.#byId.get(id)?.created_at ?? 0);
    this.window = { ...this.window, ids, arrived };
  }

  #remove(id: string): void {
    if (!this.#byId.delete(id)) return;
    this.window = { ...this.window, ids: this.window.ids.filter((other) => other !== id) };
  }

  #grow(id: string, delta: Record<string, unknown>): string | null {
    const message = this.#byId.get(id);
    if (!message) return null;
    const grown = grow(message, delta);
    if (!grown) return id;
    this.#byId.set(id, grown);
    return null;
  }
}
