import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** How many bytes of bodies that have not arrived whole may be held before slow bodies are cut. */
const MOST_BYTES = 128 * 1024 ** 2;
/** Shorter bodies are not counted: a connection takes as much. */
const SHORT_BYTES = 64 * 1024;
/** A body is slow when nothing came for so long, or when it comes at less than the rate of some networks. */
const STALLED_MS = 1_000;
const LEAST_BYTES_PER_MS = 64;

/** A body that has not arrived whole. */
interface Arriving {
  readonly raw: IncomingMessage;
  readonly beganAt: number;
  lastAt: number;
  bytes: number;
}

/**
 * Cuts the connections of slow bodies while unfinished bodies take too much memory. A body may have 4 MiB and take five minutes, and an
 * account may open thousands of connections. `bodies.large.ts` has a bound of its own for larger bodies.
 */
export function cutSlowBodies(
  app: FastifyInstance,
  { mostBytes = MOST_BYTES, stalledMs = STALLED_MS } = {},
): void {
  /** In the order of their beginning. */
  const arriving = new Set<Arriving>();
  let held = 0;

  function end(body: Arriving): void {
    if (arriving.delete(body)) held -= body.bytes;
  }

  function cutSlow(now: number): void {
    for (const body of arriving) {
      if (held <= mostBytes) return;
      const ageMs = now - body.beganAt;
      const isSlow =
        now - body.lastAt > stalledMs || (ageMs > stalledMs && body.bytes < ageMs * LEAST_BYTES_PER_MS);
      if (!isSlow) continue;
      end(body);
      body.raw.destroy();
    }
  }

  app.addHook('preParsing', ({ raw, method, routeOptions }, _reply, payload, done) => {
    const isShort = Number(raw.headers['content-length']) <= SHORT_BYTES;
    if (method !== 'GET' && !routeOptions.config.streamsBody && !isShort && !raw.complete) {
      const now = performance.now();
      const body: Arriving = { raw, beganAt: now, lastAt: now, bytes: 0 };
      arriving.add(body);
      payload.on('data', (piece: Buffer | string) => {
        if (!arriving.has(body)) return;
        body.lastAt = performance.now();
        body.bytes += piece.length;
        held += piece.length;
        if (held > mostBytes) cutSlow(body.lastAt);
      });
      payload.once('end', () => end(body));
      raw.once('close', () => end(body));
    }
    done(null, payload);
  });
}
