import { createClient, type EventSubscription, type ParleyClient } from '@parley/client';
import { io, type Socket } from 'socket.io-client';
import { type Heard, type HeardChannel, markOf } from './journal.ts';

/** An event or a reload, as both doors send it. */
interface Told {
  event_id?: number;
  channel_id: string;
  message_id: string | null;
  data: { type: string };
}

export interface ListenerOptions {
  url: string;
  personId: string;
  token: string;
  /** Channels whose right stays: the times of their events are not kept. */
  steady: ReadonlySet<string>;
  /** The first position: the cursor for tRPC, event numbers for Socket.IO. */
  cursor: string;
  positions: Record<string, number>;
}

/** The event connection of a person. It comes back by itself, and continues at its position. */
export abstract class Listener {
  readonly heard: Heard;
  readonly #channels = new Map<string, HeardChannel>();
  protected readonly options: ListenerOptions;
  protected token: string;
  /** True while the person signs out on purpose. */
  isLeaving = false;

  constructor(door: Heard['door'], options: ListenerOptions) {
    this.options = options;
    this.token = options.token;
    const { personId } = options;
    this.heard = { personId, door, channels: [], reloads: [], failures: [], connections: 0 };
  }

  /** The number of the last event of a channel; 0 without one. */
  position(channelId: string): number {
    return this.#channels.get(channelId)?.ids.at(-1) ?? 0;
  }

  abstract connect(): void;
  /** Breaks the connection like a lost network. */
  abstract tear(): void;
  /** Connects again after a sign-in. */
  abstract renew(token: string): void;
  abstract close(): void;

  protected hear({ event_id, channel_id, message_id, data }: Told): void {
    if (event_id === undefined) return;
    if (data.type === 'reload') {
      this.heard.reloads.push(channel_id);
      return;
    }
    let channel = this.#channels.get(channel_id);
    if (!channel) {
      channel = { channelId: channel_id, ids: [], marks: [], atMs: [] };
      this.#channels.set(channel_id, channel);
      this.heard.channels.push(channel);
    }
    channel.ids.push(event_id);
    channel.marks.push(markOf(data.type, message_id));
    if (!this.options.steady.has(channel_id)) channel.atMs.push(Date.now());
  }

  protected fail(reason: string): void {
    if (!this.isLeaving) this.heard.failures.push(reason);
  }
}

export class SocketIoListener extends Listener {
  #socket: Socket | undefined;

  constructor(options: ListenerOptions) {
    super('socketio', options);
  }

  connect(): void {
    const { url, positions } = this.options;
    const socket = io(url, {
      path: '/ws/socket.io',
      transports: ['websocket'],
      forceNew: true,
      auth: (send) => {
        const last_event_ids: Record<string, number> = { ...positions };
        for (const { channelId, ids } of this.heard.channels) last_event_ids[channelId] = ids.at(-1) ?? 0;
        send({ token: this.token, events: 'envelope', last_event_ids });
      },
    });
    this.#socket = socket;
    socket.on('connect', () => {
      this.heard.connections += 1;
    });
    socket.on('events:channel', (told: Told) => this.hear(told));
    socket.on('connect_error', (error) => {
      const { data } = error as Error & { data?: { code: string } };
      if (!data) return;
      this.fail(`refused: ${data.code}`);
      // Refusals are not repeated by the library.
      setTimeout(() => socket === this.#socket && socket.connect(), 1_000);
    });
    socket.on('disconnect', (reason) => {
      if (reason === 'io server disconnect') this.fail(reason);
    });
  }

  tear(): void {
    this.#socket?.io.engine?.close();
  }

  renew(token: string): void {
    this.close();
    this.token = token;
    this.connect();
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.removeAllListeners();
    socket?.disconnect();
  }
}

/** The published client, as other programs use it. */
export class TrpcListener extends Listener {
  #client: ParleyClient | undefined;
  #subscription: EventSubscription | undefined;
  #cursor: string;
  #socket: WebSocket | undefined;

  constructor(options: ListenerOptions) {
    super('trpc', options);
    this.#cursor = options.cursor;
  }

  connect(): void {
    const keep = (socket: WebSocket) => {
      this.#socket = socket;
    };
    class KnownSocket extends WebSocket {
      constructor(url: string) {
        super(url);
        keep(this);
      }
    }
    this.#client = createClient({
      url: this.options.url,
      token: this.token,
      WebSocket: KnownSocket,
      onConnection: (state) => {
        if (state === 'open') this.heard.connections += 1;
      },
    });
    this.#subscription = this.#client.events({
      lastEventId: this.#cursor,
      onEvent: (event) => this.hear(event as unknown as Told),
      onReload: (channelId) => void this.heard.reloads.push(channelId),
      onError: ({ code }) => {
        this.fail(`ended: ${code}`);
        if (!this.isLeaving) setTimeout(() => this.renew(this.token), 1_000);
      },
    });
    // The failure is told by `onError`.
    this.#subscription.ready.catch(() => {});
  }

  tear(): void {
    this.#socket?.close();
  }

  renew(token: string): void {
    this.close();
    this.token = token;
    this.connect();
  }

  close(): void {
    this.#cursor = this.#subscription?.lastEventId ?? this.#cursor;
    void this.#client?.close();
  }
}
