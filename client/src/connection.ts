import type { ParleyError } from './errors.ts';

/**
 * A session's token; null for none. A function is asked for every request and every connection, so it
 * should answer from memory and fetch a new token only when the old one is about to end.
 */
export type TokenSource = string | null | (() => string | null | Promise<string | null>);

/** The part of a `WebSocket` class that is asked of an injected one; that of the package `ws` fits. */
export type WebSocketConstructor = new (
  url: string,
) => {
  readonly readyState: number;
  send(data: string): void;
  close(): void;
};

/** `idle`: no socket, because nothing is subscribed. */
export type ConnectionState = 'idle' | 'connecting' | 'open';

export type ConnectionListener = (state: ConnectionState, error: ParleyError | null) => void;
