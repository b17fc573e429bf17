import type { Api } from './api.ts';
import type { ParleyError } from './errors.ts';
import type { EventSubscription, EventsOptions, EventsState } from './events.ts';
import { closedError, toCallError } from './failure.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { Socket } from './socket.ts';

export interface EventsSource {
  api: Api;
  socket: Socket;
  /** Registers a callback for closing the client; returns a function that removes it. */
  onClose(listener: () => void): () => void;
}

/** Follows events until it is stopped or the service refuses. */
export function followEvents(source: EventsSource, options: EventsOptions): EventSubscription {
  source.socket.requireWebSocket();
  const follower = new Follower(source, options);
  void follower.run();
  return follower;
}

class Follower implements EventSubscription {
  readonly ready: Promise<void>;
  state: EventsState = 'connecting';
  lastEventId: string | null;
  readonly #source: EventsSource;
  readonly #options: EventsOptions;
  readonly #stop = new AbortController();
  readonly #releaseClient: () => void;
  #markReady = () => {};
  #failReady = (_error: ParleyError) => {};
  #attempt = 0;

  constructor(source: EventsSource, options: EventsOptions) {
    this.#source = source;
    this.#options = options;
    this.lastEventId = options.lastEventId ?? null;
    this.ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      this.#failReady = reject;
    });
    // A caller that does not await `ready` gets a refusal by `onError`.
    this.ready.catch(() => {});
    this.#releaseClient = source.onClose(() => this.#end(null));
  }

  unsubscribe(): void {
    this.#end(null);
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let bySocket = false;
      try {
        // Without a starting position, a socket that breaks before the first event would lose the events
        // meanwhile.
        this.lastEventId ??= (await this.#source.api.channels.cursor.query(undefined, { signal })).cursor;
        this.#markReady();
        bySocket = true;
        await this.#subscribe(this.lastEventId);
      } catch (cause) {
        if (signal.aborted) return;
        const error = toCallError(cause);
        if (!(await this.#isPassing(error, bySocket))) return this.#end(error);
        this.#change('connecting', error);
      }
      await pause(retryDelayMs(this.#attempt++), signal).catch(() => {});
    }
  }

  /**
   * Resolves when the subscription has ended. A lost socket does not end it: tRPC opens the next one and
   * resumes.
   */
  #subscribe(lastEventId: string): Promise<void> {
    const { channelIds } = this.#options;
    // tRPC resumes after the id of the last item, and forgets it when that item was a notice, which has none: it then sends this
    // input again. So the input follows the position.
    const input = { ...(channelIds && { channel_ids: [...channelIds] }), lastEventId };
    return new Promise((resolve, reject) => {
      this.#source.api.channels.events.subscribe(input, {
        signal: this.#stop.signal,
        onStarted: () => this.#change('live', null),
        onData: (item) => {
          this.#attempt = 0;
          if ('notice' in item) return this.#options.onNotice?.(item.notice);
          const { id, data } = item;
          this.lastEventId = id;
          input.lastEventId = id;
          if ('user' in data) this.#options.onEvent(data, id);
          else this.#options.onReload?.(data.channel_id);
        },
        onConnectionStateChange: ({ state, error }) => {
          if (state === 'connecting') this.#change('connecting', error && toCallError(error));
        },
        onError: reject,
        onComplete: resolve,
      });
    });
  }

  /**
   * True when a retry makes sense: the service is unreachable or overloaded, or the socket was opened with an
   * older token.
   */
  async #isPassing({ status, code }: ParleyError, bySocket: boolean): Promise<boolean> {
    if (status === 401) return bySocket && this.#source.socket.renew().catch(() => false);
    return code !== 'closed' && (status === 0 || status === 429 || status >= 500);
  }

  #end(error: ParleyError | null): void {
    if (this.state === 'ended') return;
    this.#stop.abort();
    this.#releaseClient();
    this.#failReady(error ?? closedError());
    this.#change('ended', error);
    if (error) this.#options.onError?.(error);
  }

  #change(state: EventsState, error: ParleyError | null): void {
    if (this.state === 'ended' || (this.state === state && !error)) return;
    this.state = state;
    this.#options.onState?.(state, error);
  }
}
