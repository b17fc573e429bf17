import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import type { Parts } from '../../core/scope.ts';
import { admitBeforeInput } from '../../core/trpc/admission.ts';
import { buildHttpContext } from './context.ts';
import type { Procedure } from './procedures.ts';

/** The most pieces of a body. Few networks carry less than a kilobyte at a time. */
const MAX_PIECES = 20_000;
/** Of the pieces of a longer body, on average. */
const LEAST_BYTES_OF_PIECE = 512;
/** How long a refused body is read before its connection is cut: many clients read the answer only after they sent everything. */
const LINGER_MS = 5_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body later: a listener before would lose its first pieces. */
    streamsBody?: boolean;
  }
}

/** Whether a request has a body. */
export const bringsBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** A hook that refuses callers of a procedure by their credentials before their body is read. */
export function admitBeforeBody(parts: Parts, procedure: Procedure) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (bringsBody(request.raw)) await admitBeforeInput(buildHttpContext(parts, request, reply), procedure);
  };
}

/**
 * Reads a body whole.
 *
 * @param how.onBytes gets the size of each piece, before it is kept; what it throws ends the reading
 * @param how.signal ends the reading, also while no piece comes
 * @throws too_large; bad_request for a body in too many small pieces; the reason of the signal
 */
export async function readText(
  raw: IncomingMessage,
  payload: Readable,
  maxBytes: number,
  { onBytes, signal }: { onBytes?: (bytes: number) => void; signal?: AbortSignal } = {},
): Promise<string> {
  if (Number(raw.headers['content-length']) > maxBytes) throw new AppError('too_large');
  const pieces: Buffer[] = [];
  let bytes = 0;
  const ended = signal && untilAborted(signal);
  // By default, the end of the iteration destroys the connection before the answer is sent.
  const iterator = payload.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { done, value: piece } = await (ended ? Promise.race([iterator.next(), ended]) : iterator.next());
      if (done) return Buffer.concat(pieces, bytes).toString();
      bytes += piece.length;
      if (bytes > maxBytes) throw new AppError('too_large');
      if (pieces.length > MAX_PIECES && bytes < pieces.length * LEAST_BYTES_OF_PIECE)
        throw new AppError('bad_request', { detail: 'The body comes in too many small pieces.' });
      onBytes?.(piece.length);
      pieces.push(piece);
    }
  } finally {
    // Waits for the next piece, which may never come.
    iterator.return?.().catch(() => {});
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  signal.addEventListener('abort', () => reject(signal.reason));
  return promise;
}

/**
 * Cuts connections whose bodies come in too many small pieces: all pieces are kept until the last one, and a piece of one byte takes
 * four hundred.
 */
export function refuseCrumbs(app: FastifyInstance) {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    let pieces = 0;
    if (request.method !== 'GET' && !request.routeOptions.config.streamsBody) {
      payload.on('data', () => {
        pieces += 1;
        if (pieces > MAX_PIECES) request.raw.destroy();
      });
    }
    done(null, payload);
  });
}

/**
 * Bounds the bytes that several readers take together: `burst` at once, then so many a second.
 *
 * @param now milliseconds
 */
export function createPace(bytes: { perSecond: number; burst: number }, now = () => performance.now()) {
  const perMs = bytes.perSecond / 1000;
  let dueAt = Number.NEGATIVE_INFINITY;
  return {
    /** Returns how many milliseconds the reader must wait before it reads on. */
    take(count: number): number {
      dueAt = Math.max(dueAt, now() - bytes.burst / perMs) + count / perMs;
      return Math.max(0, dueAt - now());
    },
  };
}

/** Discarded pieces are garbage at once. Without a bound, refused bodies keep the garbage collector busy and slow other callers. */
const discarded = createPace({ perSecond: 8 * 1024 ** 2, burst: 128 * 1024 ** 2 });

/**
 * Reads the rest of a refused body: a client that still sends would lose the answer if its connection was closed. Cuts the
 * connection when that takes long.
 */
export function discardRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete || raw.destroyed || !bringsBody(raw)) return;
  // Fastify closes connections whose bodies it did not read.
  reply.removeHeader('connection');
  // The parser of a form may pause the stream.
  raw.unpipe();
  raw.on('data', (piece: Buffer) => {
    const waitMs = discarded.take(piece.length);
    if (waitMs <= 0) return;
    raw.pause();
    setTimeout(() => raw.resume(), waitMs).unref();
  });
  raw.resume();
  const cut = setTimeout(() => raw.destroy(), LINGER_MS).unref();
  raw.once('close', () => clearTimeout(cut));
}
