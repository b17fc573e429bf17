import type { Socket } from 'node:net';
import { MAX_FRAME_BYTES } from './protocol.ts';

const HEADER_BYTES = 4;

/**
 * Cuts a socket into frames. `onFrame` gets parsed JSON; `onFault` is called once, with the reason, for a frame
 * that is too long or is not JSON, and nothing is read after it. At most one frame is held in memory.
 */
export function readFrames(
  socket: Socket,
  onFrame: (message: unknown) => void,
  onFault: (reason: string) => void,
): void {
  let chunks: Buffer[] = [];
  let held = 0;
  /** Bytes that must be there before it is worth looking again. */
  let wanted = HEADER_BYTES;

  const stop = (reason: string) => {
    socket.off('data', take);
    socket.destroy();
    chunks = [];
    onFault(reason);
  };
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < wanted) return;
    let bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    while (bytes.length >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(0);
      if (length > MAX_FRAME_BYTES) return stop('it sent more than the limit of one answer');
      wanted = HEADER_BYTES + length;
      if (bytes.length < wanted) break;
      let message: unknown;
      try {
        message = JSON.parse(bytes.toString('utf8', HEADER_BYTES, wanted));
      } catch {
        return stop('it wrote to the channel of the server');
      }
      bytes = bytes.subarray(wanted);
      wanted = HEADER_BYTES;
      onFrame(message);
      if (socket.destroyed) return;
    }
    chunks = bytes.length > 0 ? [bytes] : [];
    held = bytes.length;
  };
  socket.on('data', take);
}

/** Sends one message, whose JSON comes in parts, as a frame. */
export function writeFrame(socket: Socket, ...parts: Buffer[]): void {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(parts.reduce((length, part) => length + part.length, 0));
  socket.write(Buffer.concat([header, ...parts]));
}
