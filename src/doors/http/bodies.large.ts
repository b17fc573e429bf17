import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { LIMITS } from '../../core/wire.ts';
import { readText } from './bodies.ts';

const MIB = 1024 ** 2;
/** Smaller bodies take no place: other doors hold as much for each call. */
const FREE_BYTES = LIMITS.bodyBytes / 4;
/** Of all bodies that are held at a time, and of those of one person. */
const MAX_HELD = { ofAll: 128 * MIB, ofOne: 64 * MIB };

interface Held {
  text: string;
  /** The caller has forgotten what the body held. */
  release(): void;
}

/** Reads bodies that are larger than those of procedures. All that one process holds at a time have a bound. */
export interface LargeBodies {
  /**
   * Reads a body that no parser has read.
   *
   * @param person whose calls share a part of the room
   * @throws too_large; unavailable while there is no room; malformed_json without a body
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
    if (bytes > 0 && (ofAll + bytes > most.ofAll || (held.get(person) ?? 0) + bytes > most.ofOne)) {
      const detail = 'Other large requests are being answered. Try again in a moment.';
      throw new AppError('unavailable', { detail, retryAfterSeconds: 2 });
    }
    add(person, bytes);
  }

  return {
    async read({ raw, headers, body }, person, maxBytes) {
      if (!body) throw new AppError('malformed_json');
      const declared = Number(headers['content-length'] ?? maxBytes);
      if (declared > maxBytes)
        throw new AppError('too_large', {
          detail: `The body of this request has at most ${maxBytes} bytes.`,
        });
      let mine = declared > FREE_BYTES ? declared : 0;
      const release = () => {
        add(person, -mine);
        mine = 0;
      };
      take(person, mine);
      try {
        const text = await readText(raw, body as Readable, maxBytes);
        // A body without a declared length counts as the largest one until it is read.
        if (text.length <= FREE_BYTES) release();
        return { text, release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}
