import type { ChannelEvent, ChannelNotice, Message } from '@parley/client';
import { flushSync } from 'react-dom';
import { noticeFailure } from '../failure.ts';
import { nextFrame } from '../frame.ts';
import { Contents, MOST } from './contents.ts';
import type { Page, Source } from './source.ts';
import type { Target, Window } from './window.ts';

interface Options {
  channelId: string;
  /** The root of a thread; null for the main line. */
  threadId: string | null;
  me: { id: string; name: string };
  source: Source;
  readOne(id: string): Promise<Message>;
}

/**
 * The messages that a list shows: one part of the channel without gaps, fed by pages and events. Lives outside of React: a row
 * listens to its message, and the list to the order. Events of one frame are applied together.
 */
export class MessageStore {
  readonly options: Options;
  /** The message at the top of the view: where a new read begins. Set by the list. */
  topId: string | null = null;
  readonly #contents: Contents;
  readonly #listeners = new Set<() => void>();
  readonly #missing = new Set<string>();
  #opening = 0;
  #queue: (ChannelEvent | ChannelNotice)[] = [];
  /** Events of the time of a read: its answer may be older than they are. */
  #meanwhile: ChannelEvent[] = [];
  #reads = 0;
  #isPaging = false;

  constructor(options: Options) {
    this.options = options;
    this.#contents = new Contents(options);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly window = (): Window => this.#contents.window;
  readonly get = (id: string): Message | undefined => this.#contents.get(id);
  readonly keyOf = (id: string): string => this.#contents.keyOf(id);

  /** True while the reader is at the newest message. Set by the list. */
  get isFollowed(): boolean {
    return this.#contents.isFollowed;
  }

  set isFollowed(isFollowed: boolean) {
    this.#contents.isFollowed = isFollowed;
  }

  /** Shows another part of the channel. */
  async open(
    read: (source: Source) => Promise<Page>,
    choose: (page: Page) => Partial<Window>,
  ): Promise<void> {
    const opening = ++this.#opening;
    try {
      const page = await this.#read(() => read(this.options.source));
      if (this.#opening !== opening) return;
      this.#show(page, opening, choose(page));
      this.#repeat();
    } catch (error) {
      noticeFailure(error, this.options.channelId);
      if (this.#opening === opening) this.#set({ status: 'failed', error });
    }
  }

  /** Shows messages that were read before. */
  show(page: Page, change: Partial<Window>): void {
    this.#show(page, ++this.#opening, change);
  }

  #show(page: Page, id: number, change: Partial<Window>): void {
    this.#contents.show(page, id, change);
    this.#tell();
  }

  jump(messageId: string): Promise<void> {
    const target: Target = { messageId, isJump: true };
    if (this.get(messageId)) {
      this.#set({ target });
      return Promise.resolve();
    }
    return this.open(
      (source) => source.around(messageId),
      () => ({ target }),
    );
  }

  async toEnd(): Promise<void> {
    const target: Target = { messageId: null, isJump: false };
    if (!this.window().hasNewer) return this.#set({ target });
    await this.open(
      (source) => source.newest(),
      () => ({ target }),
    );
  }

  /** The events of a time are gone: reads the part that is shown anew. */
  reload(): Promise<void> {
    const top = this.isFollowed || !this.topId ? null : this.get(this.topId);
    return this.open(
      (source) => (top ? source.at(top.created_at) : source.newest()),
      () => ({ target: { messageId: top?.id ?? null, isJump: false } }),
    );
  }

  async older(): Promise<void> {
    const [first] = this.window().ids;
    if (!this.window().hasOlder || !first) return;
    await this.#page(
      (source) => source.before(first),
      ({ messages, hasOlder }) => {
        const fresh = messages.filter(({ id }) => !this.window().ids.includes(id));
        this.#alone({ ids: [...fresh.map(({ id }) => id), ...this.window().ids], hasOlder });
        if (this.window().ids.length > MOST)
          this.#alone({ ids: this.window().ids.slice(0, MOST), hasNewer: true });
      },
    );
  }

  async newer(): Promise<void> {
    const last = this.window().ids.at(-1);
    if (!this.window().hasNewer || !last) return;
    const { arrived } = this.window();
    await this.#page(
      (source) => source.after(last),
      ({ messages, hasNewer }) => {
        const ids = [...this.window().ids, ...messages.map(({ id }) => id)];
        // A message that came during the read may be newer than the page.
        this.#alone({ ids, hasNewer: hasNewer || this.window().arrived > arrived });
        this.#trimStart();
      },
    );
  }

  setUnreadAfter(unreadAfter: number | null): void {
    if (this.window().unreadAfter !== unreadAfter) this.#set({ unreadAfter });
  }

  /** An event or a notice of the channel. */
  receive(item: ChannelEvent | ChannelNotice): void {
    this.#queue.push(item);
    if (this.#reads > 0 && 'event_id' in item) this.#meanwhile.push(item);
    nextFrame(this.#flush);
  }

  /** The answer to an own post, which may come before its event. */
  posted(message: Message, tempId: string): void {
    this.#contents.posted(message, tempId);
    this.#tell();
  }

  readonly #flush = (): void => {
    const items = this.#queue;
    this.#queue = [];
    for (const item of items) this.#apply(item);
    if (items.length > 0) this.#tell();
    if (this.isFollowed) this.#trimStart();
  };

  #apply(item: ChannelEvent | ChannelNotice): void {
    const incomplete = this.#contents.apply(item);
    if (incomplete) void this.readWhole(incomplete);
  }

  /** Reads a message that the page has only in part. */
  async readWhole(id: string): Promise<void> {
    if (this.#missing.has(id)) return;
    this.#missing.add(id);
    try {
      const message = await this.options.readOne(id);
      this.#contents.replace(message);
      this.#tell();
    } catch (error) {
      noticeFailure(error, this.options.channelId);
    } finally {
      this.#missing.delete(id);
    }
  }

  async #page(read: (source: Source) => Promise<Page>, use: (page: Page) => void): Promise<void> {
    if (this.#isPaging || this.window().status !== 'ready') return;
    this.#isPaging = true;
    const opening = this.#opening;
    try {
      const page = await this.#read(() => read(this.options.source));
      if (this.#opening !== opening) return;
      this.#contents.keep(page);
      use(page);
      this.#repeat();
    } catch (error) {
      noticeFailure(error, this.options.channelId);
      // The message at the edge was deleted.
      if (isNotFound(error)) await this.reload();
    } finally {
      this.#isPaging = false;
    }
  }

  async #read(read: () => Promise<Page>): Promise<Page> {
    this.#reads++;
    try {
      return await read();
    } finally {
      this.#reads--;
    }
  }

  #repeat(): void {
    const events = this.#meanwhile;
    if (this.#reads === 0) this.#meanwhile = [];
    if (events.length === 0) return;
    for (const event of events) this.#apply(event);
    this.#tell();
  }

  #trimStart(): void {
    const { ids, hasNewer } = this.window();
    if (ids.length <= MOST + 50) return;
    if (!hasNewer && !this.isFollowed) return;
    this.#alone({ ids: ids.slice(-MOST), hasOlder: true });
  }

  /** A change at one edge is rendered by itself, so that the virtual list can tell at which edge it was. */
  #alone(change: Partial<Window>): void {
    flushSync(() => {});
    flushSync(() => this.#set(change));
    this.#contents.drop();
  }

  #set(change: Partial<Window>): void {
    this.#contents.window = { ...this.window(), ...change };
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const isNotFound = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status' in error && error.status === 404;
