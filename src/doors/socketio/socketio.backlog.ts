import type { EventEmitter } from 'node:events';
import { type Outlet, outletOver } from '../../core/subscription.ts';
import { LIMITS } from '../../core/wire.ts';
import { traffic } from '../metrics/metrics.sockets.ts';

/** What a connection may leave unread before it is cut, in characters; it resumes by `last_event_ids`. */
const MAX_BACKLOG = LIMITS.bodyBytes;
/** What it may leave unread before a replay waits. */
const REPLAY_BACKLOG = 256 * 1024;
const SWEEP_MS = 250;

/**
 * What is used of an Engine.IO connection. It emits `drain` when what waited was handed to the transport, which takes no more
 * before that is sent.
 */
export interface Connection extends EventEmitter {
  readonly readyState: string;
  /** What waits for the transport. */
  readonly writeBuffer: readonly { data?: string | Buffer }[];
  close(discard: boolean): unknown;
}

const waiting = ({ writeBuffer }: Connection): number =>
  writeBuffer.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);

/** The way to a client, for what is sent to it alone. */
export const outletOf = (connection: Connection): Outlet =>
  outletOver(connection, () => connection.readyState === 'open' && waiting(connection) > REPLAY_BACKLOG);

/**
 * Cuts connections that do not take what they are sent: Engine.IO itself would keep all of it for as long as pings are answered.
 * A look now and then costs nothing for each packet, and what is broadcast meanwhile is one text for all.
 *
 * @returns what ends it
 */
export function cutBacklogs(connections: () => Iterable<Connection>): () => void {
  const timer = setInterval(() => {
    for (const connection of connections()) {
      if (waiting(connection) <= MAX_BACKLOG) continue;
      if (connection.readyState === 'open') traffic.socketio.cut += 1;
      connection.close(true);
    }
  }, SWEEP_MS);
  timer.unref();
  return () => clearInterval(timer);
}
