import { appErrorIn } from '../../core/errors.ts';

/** The part of a Socket.IO socket that is used. */
interface EndedSocket {
  disconnect(close: boolean): unknown;
  readonly conn: { close(discard?: boolean): unknown };
}

/** The statuses of failures that a client can mend: its credentials, its account, its number of requests. */
const MENDABLE: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * Whether a client that is refused for this reason can mend it. The one rule for every end of a Socket.IO socket, because
 * `socket.io-client` never comes back by itself after `connect_error` or a disconnect by the server, and always does after the
 * transport was closed.
 */
export const canMend = (error: unknown): boolean => MENDABLE.has(appErrorIn(error)?.status ?? 500);

/** Ends a socket: for good when the client can mend the reason, else so that it comes back by itself. */
export function endSocket(socket: EndedSocket, error: unknown): void {
  if (canMend(error)) socket.disconnect(true);
  else socket.conn.close();
}
