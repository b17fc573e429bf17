import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { LIMITS } from '../../core/wire.ts';
import { readText } from './bodies.ts';

const MIB = 1024 ** 2;
/** Smaller bodies take no room: other doors hold as much for each call. */
const FREE_BYTES = LIMITS.bodyBytes / 4;
/** Of all bodies that are held at a time, and of those of one person. */
const MAX_HELD = { ofAll: 128 * MIB, ofOne: 64 * MIB };
/** Bodies that take room longer than this must come at a rate of some networks at least. */
const PATIENCE_MS = 10_000;
const LEAST_BYTES_PER_MS = 64;

interface Held {
  text: string;
  /** The caller has forgotten what the body held. */
  release(): void;
}

/** Reads bodies that are larger than those of procedures. All that one process holds at a time have a bound. */
export interface LargeBodies {
  /**
   * Reads a body that no parser has read. It takes room as its bytes arrive.
   *
   * @param person whose calls share a part of the room
   * @throws too_large; unavailable while there is no room; malformed_json without a body; bad_request for a body that comes too slowly
   */
  read(request: FastifyRequest, person: string, maxBytes: number): Promise<Held>;
}

export function createLargeBodies(most = MAX_HELD): LargeBodies {
  const held = new Map<string, number>();
  let ofAll = 0;

  function add(person: string, bytes: number): void {
    const ofOne = (held.get(person) ?? 0) + bytes;
    if (ofOne > 0) held.set(person, ofOne);
    else held.delete(person);
    ofAll += bytes;
  }

  function take(person: string, bytes: number): void {
    if (ofAll + bytes > most.ofAll || (held.get(person) ?? 0) + bytes > most.ofOne) {
      const detail = 'Other large requests are being answered. Try again in a moment.';
      throw new AppError('unavailable', { detail, retryAfterSeconds: 2 });
    }
    add(person, bytes);
  }

  return {
    async read({ raw, headers, body }, person, maxBytes) {
      if (!body) throw new AppError('malformed_json');
      if (Number(headers['content-length']) > maxBytes)
        throw new AppError('too_large', {
          detail: `The body of this request has at most ${maxBytes} bytes.`,
        });
      const startedAt = performance.now();
      let [arrived, mine] = [0, 0];
      const release = () => {
        add(person, -mine);
        mine = 0;
      };
      const count = (bytes: number) => {
        arrived += bytes;
        if (arrived <= FREE_BYTES) return;
        take(person, arrived - mine);
        mine = arrived;
        const ms = performance.now() - startedAt;
        if (ms > PATIENCE_MS && arrived < ms * LEAST_BYTES_PER_MS)
          throw new AppError('bad_request', { detail: 'The body comes too slowly.' });
      };
      try {
        return { text: await readText(raw, body as Readable, maxBytes, count), release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}
