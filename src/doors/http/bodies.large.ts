import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { LIMITS } from '../../core/wire.ts';
import { readText } from './bodies.ts';

const MIB = 1024 ** 2;
/** Smaller bodies take no room: other doors hold as much for each call. */
const FREE_BYTES = LIMITS.bodyBytes / 4;
interface Limits {
  /** Bytes of all bodies that are held at a time, and of those of one person. */
  ofAll: number;
  ofOne: number;
  /** A body that holds room must come at a rate of some networks in each interval of this length. */
  patienceMs: number;
}
const LIMITS_OF_PROCESS: Limits = { ofAll: 128 * MIB, ofOne: 64 * MIB, patienceMs: 10_000 };
const LEAST_BYTES_PER_MS = 64;
/** A body of which nothing came for so long loses its room when another needs it. */
const STALLED_MS = 1_000;

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
   * @throws too_large; unavailable while there is no room; malformed_json without a body; bad_request for a body that comes too
   *   slowly
   */
  read(request: FastifyRequest, person: string, maxBytes: number): Promise<Held>;
}

/** A body that holds room and has not arrived whole. */
interface Arriving {
  lastAt: number;
  /** Gives the room back. */
  end(reason: AppError): void;
}

export function createLargeBodies(most = LIMITS_OF_PROCESS): LargeBodies {
  const held = new Map<string, number>();
  const arriving = new Set<Arriving>();
  let ofAll = 0;

  function add(person: string, bytes: number): void {
    const ofOne = (held.get(person) ?? 0) + bytes;
    if (ofOne > 0) held.set(person, ofOne);
    else held.delete(person);
    ofAll += bytes;
  }

  function take(person: string, bytes: number): void {
    if ((held.get(person) ?? 0) + bytes > most.ofOne) throw noRoom();
    const stalledSince = performance.now() - STALLED_MS;
    for (const other of arriving) {
      if (ofAll + bytes <= most.ofAll) break;
      if (other.lastAt < stalledSince) other.end(noRoom());
    }
    if (ofAll + bytes > most.ofAll) throw noRoom();
    add(person, bytes);
  }

  return {
    async read({ raw, headers, body }, person, maxBytes) {
      if (!body) throw new AppError('malformed_json');
      if (Number(headers['content-length']) > maxBytes)
        throw new AppError('too_large', {
          detail: `The body of this request has at most ${maxBytes} bytes.`,
        });
      if (Number(headers['content-length']) <= FREE_BYTES)
        return { text: await readText(raw, body as Readable, maxBytes), release() {} };
      let [arrived, arrivedBefore, mine] = [0, 0, 0];
      const release = () => {
        add(person, -mine);
        mine = 0;
      };
      const ending = new AbortController();
      const own: Arriving = {
        lastAt: 0,
        end(reason) {
          arriving.delete(own);
          release();
          ending.abort(reason);
        },
      };
      const onBytes = (bytes: number) => {
        ending.signal.throwIfAborted();
        own.lastAt = performance.now();
        arrived += bytes;
        if (arrived <= FREE_BYTES) return;
        take(person, arrived - mine);
        mine = arrived;
        arriving.add(own);
      };
      const watch = setInterval(() => {
        const came = arrived - arrivedBefore;
        arrivedBefore = arrived;
        if (mine > 0 && came < most.patienceMs * LEAST_BYTES_PER_MS) own.end(tooSlow());
      }, most.patienceMs);
      try {
        const how = { onBytes, signal: ending.signal };
        return { text: await readText(raw, body as Readable, maxBytes, how), release };
      } catch (error) {
        release();
        throw error;
      } finally {
        clearInterval(watch);
        arriving.delete(own);
      }
    },
  };
}

const noRoom = () =>
  new AppError('unavailable', {
    detail: 'Other large requests are being answered. Try again in a moment.',
    retryAfterSeconds: 2,
  });

const tooSlow = () => new AppError('bad_request', { detail: 'The body comes too slowly.' });
