import { RateLimiterMemory } from 'rate-limiter-flexible';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { runCall } from '../../core/limits/calls.ts';
import type { Scope } from '../../core/scope.ts';
import { runForRequest } from '../../core/trpc/admission.ts';
import { id } from '../../core/wire.ts';
import { setTyping } from '../../members/presence.service.ts';
import { markRead } from '../../reads/reads.service.ts';
import type { EventClient } from './socketio.client.ts';

/** The name of packets from clients that concern a channel. */
const ENVELOPE = 'events:channel';
/** How many packets a second are taken from one socket; the rest is dropped without an answer. */
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

/** The part of a Socket.IO socket that is used. */
interface HeardSocket {
  id: string;
  data: { client: EventClient; admission: Promise<boolean> | null };
  use(middleware: (packet: unknown, next: () => void) => void): unknown;
  on(name: string, handler: (...sent: unknown[]) => void): unknown;
}

/**
 * Takes the packets of clients: heartbeats, typing, read channels. As in comparable systems, a packet that is malformed, or names a
 * channel that the person may not read, is ignored without an answer; an acknowledgement means that the operation was done. Packets
 * that arrive while the socket is admitted wait for that; a socket without credentials is not heard.
 *
 * @param refuse gets the error when the socket may not stay
 */
export function hearClient(socket: HeardSocket, refuse: (error: unknown) => void): void {
  const { client } = socket.data;
  socket.use((_packet, next) => {
    limiter.consume(socket.id).then(
      () => next(),
      () => {},
    );
  });
  /** Packets are handled in their order, or the start of typing could follow its end. */
  let done = Promise.resolve();
  const on = (name: string, handle: (scope: Scope, payload: unknown) => Promise<boolean>) => {
    /** Each packet is admitted anew: the session may have ended and rights may have changed. */
    const take = (payload: unknown, acknowledge: unknown) =>
      runForRequest(client.context, name, async () => {
        const scope = await client.openScope();
        const isDone = await runCall(scope.actor.id, {}, () => handle(scope, payload)).catch((error) => {
          if (error instanceof AppError) return false;
          throw error;
        });
        if (isDone && typeof acknowledge === 'function') acknowledge();
      });
    socket.on(name, (...sent) => {
      const { admission } = socket.data;
      if (!admission) return;
      done = done
        .then(async () => {
          if (await admission) await take(sent[0], sent.at(-1));
        })
        .catch(refuse);
    });
  };
  // `openScope` has recorded the activity already.
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
