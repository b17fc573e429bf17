import { appErrorIn } from '../../core/errors.ts';

/** What is used of a Socket.IO socket. */
interface EndedSocket {
  disconnect(close: boolean): unknown;
  readonly conn: { close(discard?: boolean): unknown };
}

/** What a client can mend: its credentials, its account, or how much it asks for. */
const MENDABLE: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * Whether a client that is refused for this reason can mend it. The one rule for every end of a Socket.IO socket, because
 * `socket.io-client` never comes back by itself after `connect_error` or a disconnect by the server, and always does after the
 * transport was closed.
 */
export const canMend = (error: unknown): boolean => MENDABLE.has(appErrorIn(error)?.status ?? 500);

/** Ends a socket: for good where the client can mend the reason, else so that it comes back by itself. */
export function endSocket(socket: EndedSocket, error: unknown): void {
  if (canMend(error)) socket.disconnect(true);
  else socket.conn.close();
}
