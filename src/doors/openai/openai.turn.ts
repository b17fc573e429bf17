import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CompletionEvent } from '../../completions/completions.types.ts';
import { describeFailure, type Failure } from '../../core/failure.ts';
import type { Parts } from '../../core/scope.ts';
import { reportFailure } from '../http/report.ts';
import type { EventStream } from '../http/sse.ts';

/** How a door writes a turn as server-sent events. */
export interface TurnEncoder {
  /** Empty for an event that the client does not get. */
  event(event: CompletionEvent): string;
  failure(failure: Failure): string;
}

interface Call {
  parts: Pick<Parts, 'log'>;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * Sends a turn to the client, as fast as the client reads: the provider is not read meanwhile. The turn ends when the client has gone.
 *
 * @throws what the turn throws before its first event; later failures are sent as an event
 */
export async function sendTurn(
  { parts, request, reply }: Call,
  turn: AsyncIterable<CompletionEvent>,
  stream: EventStream,
  encoder: TurnEncoder,
): Promise<void> {
  try {
    for await (const event of turn) {
      const text = encoder.event(event);
      const behind = text === '' ? undefined : stream.send(text);
      if (behind) await behind;
      if (stream.isGone) break;
    }
    stream.end();
  } catch (error) {
    // No client reads the answer.
    if (stream.isGone) reply.hijack();
    else if (stream.hasBegun) {
      const failure = describeFailure(error, request.id);
      reportFailure(parts.log, failure, error, { requestId: request.id, route: request.routeOptions.url });
      stream.send(encoder.failure(failure));
      stream.end();
    } else {
      stream.abandon();
      throw error;
    }
  }
}
