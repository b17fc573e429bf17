import { LIMITS } from '../core/wire.ts';

/** What a connection may leave unread before it is cut, in characters; it resumes by `last_event_ids`. */
const MAX_BACKLOG = 4 * LIMITS.bodyBytes;

/** What is used of an Engine.IO connection. */
interface Connection {
  on(event: 'packetCreate', listener: (packet: { data?: string | Buffer }) => void): unknown;
  on(event: 'drain' | 'close', listener: () => void): unknown;
  close(discard: boolean): unknown;
}

export interface Backlog {
  /** Resolves when no more than that is waiting to be sent, or when nothing will be sent any more. */
  below(characters: number): Promise<void>;
}

const followed = new WeakMap<object, Backlog>();

/**
 * Follows how much a connection has not taken yet, and cuts it when that is too much. Engine.IO itself would keep all of it for
 * as long as pings are answered.
 */
export function followBacklog(connection: Connection & object): Backlog {
  const known = followed.get(connection);
  if (known) return known;
  let waiting = 0;
  const wake: (() => void)[] = [];
  const settle = () => {
    waiting = 0;
    for (const resolve of wake.splice(0)) resolve();
  };
  connection.on('packetCreate', ({ data }) => {
    waiting += data?.length ?? 0;
    if (waiting > MAX_BACKLOG) connection.close(true);
  });
  // Said when the buffer was handed to the transport, which takes no more before that is sent.
  connection.on('drain', settle);
  connection.on('close', settle);
  const backlog: Backlog = {
    async below(characters) {
      while (waiting > characters) await new Promise<void>((resolve) => wake.push(resolve));
    },
  };
  followed.set(connection, backlog);
  return backlog;
}
