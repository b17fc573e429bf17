import { createWSClient, type TRPCLink, type TRPCWebSocketClient, wsLink } from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import type { ConnectionListener, WebSocketConstructor } from './connection.ts';
import { toCallError } from './failure.ts';
import { pause, retryDelayMs } from './retry.ts';

export interface SocketOptions {
  url: string;
  token: () => Promise<string | null>;
  WebSocket: WebSocketConstructor | undefined;
  onConnection: ConnectionListener | undefined;
}

export interface Socket {
  /** Sends subscriptions; the socket is opened for the first and closed soon after the last. */
  readonly link: TRPCLink<AnyTRPCRouter>;
  /** @throws Error where no `WebSocket` class exists */
  requireWebSocket(): void;
  /**
   * Opens the socket again when the token has changed since it was opened; subscriptions continue at their
   * position. Returns true in that case.
   */
  renew(): Promise<boolean>;
  close(): Promise<void>;
}

const LINGER_MS = 1000;
const OPEN_TIMEOUT_MS = 10_000;
/** Detects a dead connection (a laptop that slept, a lost Wi-Fi) within half a minute. */
const KEEP_ALIVE = { enabled: true, intervalMs: 20_000, pongTimeoutMs: 10_000 };

const STATES = { idle: 'idle', connecting: 'connecting', pending: 'open' } as const;

/** One WebSocket for all subscriptions of a client. It is opened for the first of them. */
export function createSocket({ url, token, WebSocket, onConnection }: SocketOptions): Socket {
  const Base = (WebSocket ?? globalThis.WebSocket) as typeof globalThis.WebSocket | undefined;
  const closing = new AbortController();
  const sockets = new Set<globalThis.WebSocket>();
  let client: TRPCWebSocketClient | undefined;
  let tokenInUse: string | null | undefined;
  let delayMs = 0;

  function requireWebSocket() {
    if (Base) return Base;
    throw new Error(
      'This runtime has no WebSocket. Pass one to createClient, for example that of the package "ws".',
    );
  }

  function connect(): TRPCWebSocketClient {
    const created = createWSClient({
      // tRPC's own delay would leave a timer behind when the client is closed meanwhile, so the wait is here.
      retryDelayMs(attempt) {
        delayMs = retryDelayMs(attempt);
        return 0;
      },
      async url() {
        const ms = delayMs;
        delayMs = 0;
        await pause(ms, closing.signal);
        return url;
      },
      async connectionParams() {
        const current = await token();
        tokenInUse = current;
        return current === null ? {} : { token: current };
      },
      WebSocket: trackSockets(requireWebSocket(), sockets),
      lazy: { enabled: true, closeMs: LINGER_MS },
      keepAlive: KEEP_ALIVE,
    });
    created.connectionState.subscribe({
      next: ({ state, error }) => onConnection?.(STATES[state], error && toCallError(error)),
    });
    return created;
  }

  return {
    requireWebSocket,
    link: (runtime) => {
      let send: ReturnType<TRPCLink<AnyTRPCRouter>> | undefined;
      return (call) => {
        client ??= connect();
        send ??= wsLink<AnyTRPCRouter>({ client })(runtime);
        return send(call);
      };
    },
    async renew() {
      if (tokenInUse === undefined || (await token()) === tokenInUse) return false;
      client?.connection?.ws.close();
      return true;
    },
    async close() {
      closing.abort();
      const closed = client?.close();
      for (const socket of sockets) socket.close();
      await closed;
    },
  };
}

/** Counts open sockets, and gives up servers that accept a connection and then send nothing. */
function trackSockets(Base: typeof globalThis.WebSocket, sockets: Set<globalThis.WebSocket>) {
  return class extends Base {
    constructor(url: string | URL) {
      super(url);
      sockets.add(this);
      const timer = setTimeout(() => this.close(), OPEN_TIMEOUT_MS);
      this.addEventListener('open', () => clearTimeout(timer));
      this.addEventListener('close', () => {
        clearTimeout(timer);
        sockets.delete(this);
      });
    }
  };
}
