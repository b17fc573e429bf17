import type { ChannelNoticeView } from '../../src/channelbase/channels.notices.schema.ts';
import type { MessageView } from '../../src/messages/messages.schema.ts';
import {
  type Event,
  listenBySocket,
  type SocketListener,
  type Subscription,
  subscribe,
} from '../events/listen.ts';
import { until } from '../support/poll.ts';
import { call } from '../support/server.ts';
import type { Player } from './stage.ts';

/** A message without its quote: this must be equal everywhere, but a quote stays as its reader got it. */
export type Message = Omit<MessageView, 'reply_to_message'>;
export type State = Map<string, Message>;

interface Told {
  type: string;
  data: unknown;
}

/** Applies an event to the messages of its channel, as every client can. */
export function applyEvent(state: State, { type, data }: Told): void {
  if (!type.startsWith('message')) return;
  const { reply_to_message, temp_id, name, ...message } = data as MessageView & Record<string, unknown>;
  // A deleted message with replies stays, without its content.
  if (type !== 'message:delete' || message.reply_count > 0) {
    state.set(message.id, message);
    return;
  }
  state.delete(message.id);
  for (const quoting of state.values()) {
    if (quoting.reply_to_id === message.id) state.set(quoting.id, { ...quoting, reply_to_id: null });
  }
}

/** All messages of a channel; undefined when the player may not read it. */
export async function loadChannel(url: string, token: string, channelId: string): Promise<State | undefined> {
  const get = (path: string) => call(url, `GET /channels/${channelId}/messages${path}`, { token });
  const main = await get('?limit=200');
  if (main.status !== 200) return undefined;
  const roots = main.body as MessageView[];
  const threads = await Promise.all(
    roots.filter(({ reply_count }) => reply_count > 0).map(({ id }) => get(`/${id}/thread?limit=200`)),
  );
  const messages = [...roots, ...threads.flatMap(({ status, body }) => (status === 200 ? body : []))];
  const state: State = new Map();
  for (const message of messages) applyEvent(state, { type: 'message', data: message });
  return state;
}

export interface Heard {
  event: Event;
  /** Upper bound of the arrival in Unix milliseconds. */
  atMs: number;
}

/** The way a player listens: over tRPC, or over Socket.IO with one of its forms of events. */
export type ListeningDoor = 'trpc' | 'envelope' | 'named';

interface Connection {
  /** The received events in order; tRPC resumes by `id`. */
  items(): { id?: string; event: Event }[];
  notices(): ChannelNoticeView[];
  reloads(): number;
  isLost(): boolean;
  tear(): void;
  close(): void;
}

const overTrpc = (subscription: Subscription): Connection => ({
  items: () => subscription.items,
  notices: () => subscription.notices,
  reloads: () => subscription.reloads.length,
  isLost: () => subscription.failure !== undefined,
  tear: () => subscription.tear(),
  close: () => subscription.close(),
});
const overSocketIo = (listener: SocketListener): Connection => ({
  items: () =>
    [...listener.enveloped, ...listener.named.map(({ event }) => event)].map((event) => ({ event })),
  notices: () => [...listener.notices, ...listener.namedNotices.map(({ notice }) => notice)],
  reloads: () => listener.reloads.length,
  isLost: () => listener.ended !== undefined,
  tear: () => listener.close(),
  close: () => listener.close(),
});

/**
 * A player with few rights receives little until the end, so there is no shorter limit; the test itself has
 * one.
 */
const MOST_MS = 600_000;

/** The server to listen to. A server that was killed has another `life` when it is back. */
export interface Place {
  url: string;
  life: number;
}

/**
 * A client of a player: it builds the messages of each channel from one load and from events. It loses its
 * connection again and again, and continues at its positions.
 */
export class Follower {
  readonly player: Player;
  readonly door: ListeningDoor;
  readonly heard: Heard[] = [];
  readonly noticed: { notice: ChannelNoticeView; atMs: number }[] = [];
  readonly #where: () => Promise<Place>;
  readonly #isPlace: (place: Place) => boolean;
  readonly #losses: number[];
  /** The number of the last received event of each channel. */
  readonly #positions: Map<string, number>;
  readonly #loaded = new Map<string, State>();
  readonly #loading = new Map<string, Promise<void>>();
  #cursor: string;
  #isSettling = false;
  #isOver = false;
  #isConnected = false;
  reloads = 0;

  constructor(options: {
    player: Player;
    door: ListeningDoor;
    /** After how many events the connection is lost, again and again. */
    losses: number[];
    where: () => Promise<Place>;
    /** True while the server of this place still runs. */
    isPlace: (place: Place) => boolean;
    cursor: string;
    /** Channels that the player may read from the beginning, with only their first event. */
    known: string[];
  }) {
    this.player = options.player;
    this.door = options.door;
    this.#losses = options.losses;
    this.#where = options.where;
    this.#isPlace = options.isPlace;
    this.#cursor = options.cursor;
    this.#positions = new Map(options.known.map((id) => [id, 1]));
    for (const id of options.known) this.#loaded.set(id, new Map());
  }

  /** Listens until `finish`. */
  async run(): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      const place = await this.#where();
      const connection = await this.#connect(place);
      const begun = this.heard.length;
      const patience = this.#losses[round % this.#losses.length] ?? 0;
      let taken = 0;
      let noticed = 0;
      let isTorn = false;
      const take = () => {
        const fresh = connection.items().slice(taken);
        taken += fresh.length;
        for (const item of fresh) this.#hear(item, place);
        const passing = connection.notices().slice(noticed);
        noticed += passing.length;
        for (const notice of passing) this.noticed.push({ notice, atMs: Date.now() });
      };
      await this.#loadUnknown(place);
      this.#isConnected = true;
      await until(
        `events for ${this.player.name}`,
        () => {
          take();
          if (this.#isOver || connection.isLost() || !this.#isPlace(place)) return true;
          if (this.#isSettling || this.heard.length - begun < patience) return false;
          // The client of tRPC reconnects by itself once; after that this follower does.
          if (this.door !== 'trpc' || isTorn) return true;
          isTorn = true;
          connection.tear();
          return false;
        },
        MOST_MS,
      );
      this.#isConnected = false;
      connection.close();
      take();
      this.reloads += connection.reloads();
    }
    await Promise.all(this.#loading.values());
  }

  /** Resolves when it is connected and will not disconnect again. */
  async settle(): Promise<void> {
    this.#isSettling = true;
    await until(`${this.player.name} to be connected`, () => this.#isConnected);
  }

  finish(): void {
    this.#isOver = true;
  }

  /** The number of the last received event of a channel. */
  position(channelId: string): number | undefined {
    return this.#positions.get(channelId);
  }

  /** The state of a channel: the loaded messages with all received events. */
  stateOf(channelId: string): State {
    const state: State = new Map(this.#loaded.get(channelId));
    for (const { event } of this.heard) if (event.channel_id === channelId) applyEvent(state, event.data);
    return state;
  }

  async #connect(place: Place): Promise<Connection> {
    const { url } = place;
    const { token } = this.player;
    if (this.door === 'trpc') {
      const isGone = () => !this.#isPlace(place);
      return overTrpc(await subscribe(url, token, { lastEventId: this.#cursor }, isGone));
    }
    const last_event_ids = Object.fromEntries(this.#positions);
    const listener = await listenBySocket(url, token, { auth: { events: this.door, last_event_ids } });
    return overSocketIo(listener);
  }

  #hear({ id, event }: { id?: string; event: Event }, place: Place): void {
    this.heard.push({ event, atMs: Date.now() });
    // Messages that were loaded before the first event may come from an earlier period of access, and no
    // event number says what happened after it.
    const isFirst = !this.#positions.has(event.channel_id);
    this.#positions.set(event.channel_id, event.event_id);
    if (id !== undefined) this.#cursor = id;
    const isLoaded = this.#loaded.has(event.channel_id) || this.#loading.has(event.channel_id);
    if (isFirst || !isLoaded) this.#load(place, event.channel_id);
  }

  /** Channels that became readable during an interruption, without a position to continue from. */
  async #loadUnknown(place: Place): Promise<void> {
    // A running load may show a channel as it was before this connection.
    await Promise.all(this.#loading.values());
    const { body } = await call(place.url, 'GET /channels', this.player).catch(() => ({ body: [] }));
    const channels = Array.isArray(body) ? (body as { id: string }[]) : [];
    for (const { id } of channels) if (!this.#positions.has(id)) this.#load(place, id);
    await Promise.all(this.#loading.values());
  }

  #load({ url }: Place, channelId: string): void {
    // A running load may show the state before.
    const before = this.#loading.get(channelId) ?? Promise.resolve();
    const loading = before
      .then(() => loadChannel(url, this.player.token, channelId))
      .then((state) => void (state && this.#loaded.set(channelId, state)))
      .catch(() => {})
      .finally(() => {
        if (this.#loading.get(channelId) === loading) this.#loading.delete(channelId);
      });
    this.#loading.set(channelId, loading);
  }
}
