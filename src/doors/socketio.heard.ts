import { RateLimiterMemory } from 'rate-limiter-flexible';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { EventClient } from './socketio.client.ts';

/** How many packets a second one socket is listened to; the rest is dropped without an answer. */
const PACKETS_PER_SECOND = 10;
const limiter = new RateLimiterMemory({ points: PACKETS_PER_SECOND, duration: 1 });

/** What is used of a Socket.IO socket. */
interface HeardSocket {
  id: string;
  use(middleware: (packet: unknown, next: () => void) => void): unknown;
  on(name: string, handler: (payload: unknown, acknowledge: unknown) => void): unknown;
}

/**
 * Takes what clients of the protocol tell: that they are there, that they type, that they have read. As with others of its kind,
 * what is malformed, or names a channel that is not theirs, is passed over in silence; an acknowledgement means that it was done.
 *
 * @param refuse is told what means that the socket may not stay
 */
export function hearClient(socket: HeardSocket, client: EventClient, refuse: (error: unknown) => void): void {
  socket.use((_packet, next) => {
    limiter.consume(socket.id).then(
      () => next(),
      () => {},
    );
  });
  const on = (name: string, handle: (scope: Scope, payload: unknown) => Promise<boolean>) => {
    socket.on(name, (payload, acknowledge) => {
      if (!client.actor) return;
      // Who they are is asked anew each time: the session may have ended, and what they may do changed.
      client
        .openScope()
        .then((scope) =>
          handle(scope, payload).then(
            (isDone) => {
              if (isDone && typeof acknowledge === 'function') acknowledge();
            },
            (error) => {
              if (!(error instanceof AppError)) throw error;
            },
          ),
        )
        .catch(refuse);
    });
  };
  // To have come this far is what counts as activity.
  on('heartbeat', async () => true);
}
