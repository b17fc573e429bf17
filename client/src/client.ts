import { createTRPCClient, httpBatchLink, splitLink, type TRPCLink } from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import type { Api } from './api.ts';
import type { ConnectionListener, TokenSource, WebSocketConstructor } from './connection.ts';
import type { EventSubscription, EventsOptions } from './events.ts';
import { closedError, toCallError, tokenError } from './failure.ts';
import { followEvents } from './follower.ts';
import { createSocket } from './socket.ts';

export interface ClientOptions {
  /** The address of the service: `http://127.0.0.1:8080`. A path before `/trpc` is kept. */
  url: string | URL;
  token?: TokenSource;
  /** For runtimes without `fetch`, or to observe every request. */
  fetch?: typeof globalThis.fetch;
  /** For runtimes without `WebSocket` (Node.js before 22), for example the class of the package `ws`. */
  WebSocket?: WebSocketConstructor;
  /**
   * Called when the socket of the subscriptions opens, breaks, or is opened again; `error` has the reason.
   */
  onConnection?: ConnectionListener;
}

export interface ParleyClient {
  /**
   * Every procedure of the service: `api.channels.create.mutate({ name })`, `api.channels.list.query()`.
   * Calls of the same moment share one request. They fail with a `ParleyError`, and are not repeated
   * automatically.
   */
  readonly api: Api;
  /**
   * Subscribes to the events of channels. Lost connections are made good: each event arrives once, in order.
   *
   * @throws Error where no `WebSocket` class exists
   */
  events(options: EventsOptions): EventSubscription;
  /** Continues with another token; subscriptions keep their position. */
  setToken(token: TokenSource): void;
  /**
   * Ends everything: running calls fail with the code `closed`, subscriptions end, no timer or socket stays.
   */
  close(): Promise<void>;
}

/** The server refuses larger batches. */
const MAX_BATCH_ITEMS = 20;
/** Common proxies accept request lines of 8 KiB. */
const MAX_URL_CHARACTERS = 6000;

/**
 * A typed client of a Parley service. Makes no request before the first call.
 *
 * @throws TypeError when `url` is no URL
 */
export function createClient(options: ClientOptions): ParleyClient {
  const endpoint = endpointOf(options.url);
  const closeListeners = new Set<() => void>();
  let closed = false;
  let source: TokenSource = options.token ?? null;

  const token = async () => {
    if (typeof source !== 'function') return source;
    try {
      return await source();
    } catch (cause) {
      throw tokenError(cause);
    }
  };
  const onClose = (listener: () => void) => {
    closeListeners.add(listener);
    return () => closeListeners.delete(listener);
  };

  /** Converts errors to those of this client, and ends all calls with the client. */
  const lifetime: TRPCLink<AnyTRPCRouter> =
    () =>
    ({ op, next }) =>
      observable((observer) => {
        if (closed) {
          observer.error(closedError());
          return;
        }
        const call = next(op).subscribe({
          ...observer,
          error: (error) => observer.error(toCallError(error)),
        });
        const release = onClose(() => {
          call.unsubscribe();
          observer.error(closedError());
        });
        return () => {
          release();
          call.unsubscribe();
        };
      });

  const socket = createSocket({
    url: endpoint.replace(/^http/, 'ws'),
    token,
    WebSocket: options.WebSocket,
    onConnection: options.onConnection,
  });
  const client = createTRPCClient<AnyTRPCRouter>({
    links: [
      lifetime,
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: socket.link,
        false: httpBatchLink({
          url: endpoint,
          maxItems: MAX_BATCH_ITEMS,
          maxURLLength: MAX_URL_CHARACTERS,
          ...(options.fetch && { fetch: options.fetch }),
          async headers() {
            const current = await token();
            return current === null ? {} : { authorization: `Bearer ${current}` };
          },
        }),
      }),
    ],
  });
  // The client of tRPC accepts any name; `Api` declares the existing ones.
  const api = client as unknown as Api;

  return {
    api,
    events(eventsOptions) {
      if (closed) throw closedError();
      return followEvents({ api, socket, onClose }, eventsOptions);
    },
    setToken(next) {
      source = next;
      // After a failure of the function, the next request calls it again.
      socket.renew().catch(() => {});
    },
    async close() {
      closed = true;
      for (const listener of [...closeListeners]) listener();
      await socket.close();
    },
  };
}

function endpointOf(url: string | URL): string {
  const base = new URL(url);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return new URL('trpc', base).href;
}
