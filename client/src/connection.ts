import type { ParleyError } from './errors.ts';

/**
 * The token of a session; null for none. A function is called for every request and every connection, so it
 * should answer from memory and fetch a new token only when the old one is about to expire.
 */
export type TokenSource = string | null | (() => string | null | Promise<string | null>);

/** The part of a `WebSocket` class that an injected class must have; that of the package `ws` fits. */
export type WebSocketConstructor = new (
  url: string,
) => {
  readonly readyState: number;
  send(data: string): void;
  close(): void;
};

/** `idle`: no socket, because there are no subscriptions. */
export type ConnectionState = 'idle' | 'connecting' | 'open';

export type ConnectionListener = (state: ConnectionState, error: ParleyError | null) => void;
