import type { EventEmitter } from 'node:events';
import { type Outlet, outletOver } from '../../core/subscription.ts';
import { LIMITS } from '../../core/wire.ts';
import { traffic } from '../metrics/metrics.sockets.ts';

/** How many characters a connection may leave unread before it is cut; the client resumes by `last_event_ids`. */
const MAX_BACKLOG = LIMITS.bodyBytes;
/** How many it may leave unread before a replay waits. */
const REPLAY_BACKLOG = 256 * 1024;
const SWEEP_MS = 250;

/**
 * The part of an Engine.IO connection that is used. It emits `drain` when waiting packets were handed to the transport, which takes
 * the next ones when these are sent.
 */
export interface Connection extends EventEmitter {
  readonly readyState: string;
  /** Packets that wait for the transport. */
  readonly writeBuffer: readonly { data?: string | Buffer }[];
  close(discard: boolean): unknown;
}

const waiting = ({ writeBuffer }: Connection): number =>
  writeBuffer.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);

/** The outlet of a client, for packets that only it gets. */
export const outletOf = (connection: Connection): Outlet =>
  outletOver(connection, () => connection.readyState === 'open' && waiting(connection) > REPLAY_BACKLOG);

/**
 * Cuts connections that do not read: Engine.IO itself would keep all their packets as long as they answer pings. A regular sweep costs
 * nothing for each packet, and a broadcast between two sweeps is one text for all connections.
 *
 * @returns a function that ends the sweep
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
