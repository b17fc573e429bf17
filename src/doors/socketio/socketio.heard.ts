import { RateLimiterMemory } from 'rate-limiter-flexible';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { runCall } from '../../core/limits/calls.ts';
import type { Scope } from '../../core/scope.ts';
import { id } from '../../core/wire.ts';
import { setTyping } from '../../members/presence.service.ts';
import { markRead } from '../../reads/reads.service.ts';
import type { EventClient } from './socketio.client.ts';

/** The name under which clients tell what concerns a channel. */
const ENVELOPE = 'events:channel';
/** How many packets a second one socket is listened to; the rest is dropped without an answer. */
const PACKETS_PER_SECOND = 10;
const limiter = new RateLimiterMemory({ points: PACKETS_PER_SECOND, duration: 1 });

const InChannel = z.object({
  channel_id: id(),
  message_id: id().nullish(),
  data: z.discriminatedUnion('type', [
    z.object({ type: z.literal('typing'), data: z.object({ typing: z.boolean() }).optional() }),
    z.object({ type: z.literal('last_read_at') }),
  ]),
});

/** What is used of a Socket.IO socket. */
interface HeardSocket {
  id: string;
  use(middleware: (packet: unknown, next: () => void) => void): unknown;
  on(name: string, handler: (...sent: unknown[]) => void): unknown;
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
  /** One after the other: what is told first is done first, or "typing" would follow the end of it. */
  let done = Promise.resolve();
  const on = (name: string, handle: (scope: Scope, payload: unknown) => Promise<boolean>) => {
    /** Who they are is asked anew each time: the session may have ended, and what they may do changed. */
    const take = async (payload: unknown, acknowledge: unknown) => {
      const scope = await client.openScope();
      const isDone = await runCall(scope.actor.id, {}, () => handle(scope, payload)).catch((error) => {
        if (error instanceof AppError) return false;
        throw error;
      });
      if (isDone && typeof acknowledge === 'function') acknowledge();
    };
    socket.on(name, (...sent) => {
      if (client.actor) done = done.then(() => take(sent[0], sent.at(-1))).catch(refuse);
    });
  };
  // To have come this far is what counts as activity.
  on('heartbeat', async () => true);
  on(ENVELOPE, async (scope, payload) => {
    const heard = InChannel.safeParse(payload);
    if (!heard.success) return false;
    const { channel_id, message_id = null, data } = heard.data;
    if (data.type === 'typing') await setTyping(scope, channel_id, message_id, data.data?.typing ?? true);
    else await markRead(scope, channel_id);
    return true;
  });
}
