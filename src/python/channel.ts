import type { Socket } from 'node:net';
import { AppError } from '../core/errors.ts';
import { checkJsonBounds, type JsonBounds } from '../core/incoming.ts';
import { MAX_FRAME_BYTES } from './protocol.ts';

const HEADER_BYTES = 4;
/** Of one frame. The system hands over many kilobytes at once, unless they were written byte by byte. */
const MAX_PIECES = 10_000;
/** What an honest result of 8 MiB holds, and what takes well under a second to read. Python itself writes 254 levels. */
const BOUNDS: JsonBounds = { depth: 300, values: Number.POSITIVE_INFINITY, lists: 1_000_000 };

const NONE = Buffer.alloc(0);

/**
 * Cuts a socket into frames. `onFrame` gets parsed JSON and its text; `onFault` is called once, with the reason, for a frame
 * that is too long, holds too much or is not JSON, or that `onFrame` throws at, and nothing is read after it. At most one frame
 * is held in memory.
 */
export function readFrames(
  socket: Socket,
  onFrame: (message: unknown, text: string) => void,
  onFault: (reason: string) => void,
): void {
  /** A part of a header. */
  let rest: Buffer = NONE;
  /** The frame that is under way, and how much of it is there. */
  let frame: Buffer | undefined;
  let filled = 0;
  let pieces = 0;

  const stop = (reason: string) => {
    socket.off('data', take);
    socket.destroy();
    frame = undefined;
    onFault(reason);
  };
  /** Strangers wrote it, so whatever goes wrong with it is the end of this channel and of nothing else. */
  const handOver = (body: Buffer) => {
    try {
      const text = body.toString();
      if (!isFlat(text)) checkJsonBounds(text, BOUNDS);
      onFrame(JSON.parse(text), text);
    } catch (error) {
      stop(
        error instanceof AppError
          ? 'it sent too many lists and objects at once, or too deep ones'
          : 'it wrote to the channel of the server',
      );
    }
  };
  const take = (chunk: Buffer) => {
    let bytes = chunk;
    if (frame) {
      const taken = chunk.copy(frame, filled);
      filled += taken;
      pieces += 1;
      if (filled < frame.length) {
        if (pieces > MAX_PIECES) stop('it wrote in too many pieces');
        return;
      }
      const whole = frame;
      frame = undefined;
      bytes = chunk.subarray(taken);
      handOver(whole);
    } else if (rest.length > 0) {
      bytes = Buffer.concat([rest, chunk]);
    }
    rest = NONE;
    while (bytes.length >= HEADER_BYTES && !socket.destroyed) {
      const length = bytes.readUInt32BE(0);
      if (length > MAX_FRAME_BYTES) return stop('it sent more than the limit of one answer');
      const end = HEADER_BYTES + length;
      if (bytes.length < end) {
        // As large as it says: joining pieces again and again would take ever longer.
        frame = Buffer.allocUnsafeSlow(length);
        filled = bytes.copy(frame, 0, HEADER_BYTES);
        pieces = 1;
        return;
      }
      const body = bytes.subarray(HEADER_BYTES, end);
      bytes = bytes.subarray(end);
      handOver(body);
    }
    rest = bytes;
  };
  socket.on('data', take);
}

/** Whether JSON opens so few lists and objects that it is within all bounds; those that stand in its texts count too. */
function isFlat(text: string): boolean {
  let left = BOUNDS.depth;
  for (const sign of '[{') {
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

/** Sends one message, whose JSON comes in parts, as a frame. */
export function writeFrame(socket: Socket, ...parts: Buffer[]): void {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(parts.reduce((length, part) => length + part.length, 0));
  socket.write(Buffer.concat([header, ...parts]));
}
