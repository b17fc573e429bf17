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
  /** Where the service is: `http://127.0.0.1:8080`. A path before `/trpc` is kept. */
  url: string | URL;
  token?: TokenSource;
  /** For runtimes without `fetch`, or to see every request. */
  fetch?: typeof globalThis.fetch;
  /** For runtimes without `WebSocket` (Node.js before 22): the class of the package `ws`, for example. */
  WebSocket?: WebSocketConstructor;
  /** Called when the socket that carries subscriptions opens, breaks, or is tried again; `error` says why. */
  onConnection?: ConnectionListener;
}

export interface ParleyClient {
  /**
   * Every procedure of the service: `api.channels.create.mutate({ name })`, `api.channels.list.query()`. Calls of the same
   * moment share one request. They fail with a `ParleyError`, and are not repeated by themselves.
   */
  readonly api: Api;
  /**
   * Follows what happens in channels. Lost connections are made good: each event arrives once, in order.
   *
   * @throws Error where no `WebSocket` class exists
   */
  events(options: EventsOptions): EventSubscription;
  /** Goes on with another token; subscriptions keep their place. */
  setToken(token: TokenSource): void;
  /** Ends everything: calls under way fail with the code `closed`, subscriptions end, no timer or socket stays. */
  close(): Promise<void>;
}

/** The server refuses larger batches. */
const MAX_BATCH_ITEMS = 20;
/** Common proxies take request lines of 8 KiB. */
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

  /** Speaks this client's errors, and lets no call outlive the client. */
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
  // tRPC's client takes any name; `Api` says which of them the service knows.
  const api = client as unknown as Api;

  return {
    api,
    events(eventsOptions) {
      if (closed) throw closedError();
      return followEvents({ api, socket, onClose }, eventsOptions);
    },
    setToken(next) {
      source = next;
      // A function that fails now is asked again by the next request.
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
