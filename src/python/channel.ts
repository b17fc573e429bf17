import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { MAX_FRAME_BYTES, MAX_FRAMES_BYTES } from './protocol.ts';
import { JsonScan, ScanFault } from './scan.ts';

const HEADER_BYTES = 4;
/** Pieces of one frame. The kernel delivers many kilobytes at once, unless they were written byte by byte. */
const MAX_PIECES = 10_000;
/** A frame up to this size is read at once and does not count against the frame room. */
const SMALL_BYTES = 64 * 1024;
/** How much of a longer frame is read in one turn of the event loop: one or two milliseconds. */
const SLICE_BYTES = 256 * 1024;
/** How long a frame may take to arrive. A tool's process writes a frame in one write. */
const FRAME_MS = 30_000;
/** What the head of a frame may hold; its longest member is the output of a function. */
const MAX_HEAD_BYTES = 128 * 1024;
const MAX_HEAD_MEMBERS = 32;
/** The most members in parsed JSON: each distinct name takes a microsecond. */
const MAX_MEMBERS = 20_000;
const MAX_LISTS = 100_000;
const LINE_FEED = 0x0a;

const NONE = Buffer.alloc(0);
const TOO_MUCH = 'it sent too many members, lists and objects at once';
const BROKEN = 'it wrote to the channel of the server';

/** JSON text from a tool's process. It is checked but not parsed: a result goes to the caller unchanged. */
export class Payload {
  readonly text: string;
  readonly #scan: JsonScan;

  constructor(bytes: Buffer, scan: JsonScan) {
    this.text = bytes.toString();
    this.#scan = scan;
  }

  /** @throws ScanFault when parsing would block the event loop for long */
  parse(): unknown {
    const { members, lists } = this.#scan;
    if (members > MAX_MEMBERS || lists > MAX_LISTS) throw new ScanFault(TOO_MUCH);
    return JSON.parse(this.text);
  }
}

/** The memory that all long frames share. A frame holds its part from its first byte until it is read. */
export interface FrameRoom {
  /** Returns false when the room for so many bytes is not free. */
  take(bytes: number): boolean;
  /** Calls `retry` when room may be free again. The returned function cancels that. */
  wait(retry: () => void): () => void;
  give(bytes: number): void;
}

export function openFrameRoom(limit = MAX_FRAMES_BYTES): FrameRoom {
  let taken = 0;
  const waiting = new Set<() => void>();
  return {
    take(bytes) {
      if (taken + bytes > limit) return false;
      taken += bytes;
      return true;
    },
    wait(retry) {
      waiting.add(retry);
      return () => waiting.delete(retry);
    },
    give(bytes) {
      taken -= bytes;
      const retries = [...waiting];
      waiting.clear();
      for (const retry of retries) retry();
    },
  };
}

export interface FrameHandlers {
  /** `head` is parsed. `payload` is the JSON text after the head, if any. `bytes` is the size of both. */
  onFrame(head: unknown, payload: Payload | undefined, bytes: number): void;
  /**
   * Called once, with the reason: the frame is too long, holds too much or is not JSON, or `onFrame` threw.
   */
  onFault(reason: string): void;
}

export interface FrameReader {
  /** Turns reading on or off. Frames that have arrived are still delivered. */
  listen(isOn: boolean): void;
  /** Whether a frame is being checked. A check takes several turns of the event loop. */
  isChecking(): boolean;
  /** Whether the process may have sent messages that are not delivered because reading is off. */
  isBehind(): boolean;
}

/**
 * Cuts a socket into frames and delivers them in order. A frame is one line of JSON, the head; some kinds add
 * a line feed and JSON of any size. Each frame is checked and counted before it is parsed. Reading stops
 * after a fault.
 */
export function readFrames(
  socket: Socket,
  room: FrameRoom,
  { onFrame, onFault }: FrameHandlers,
): FrameReader {
  /** Bytes that are not yet processed. */
  let rest: Buffer = NONE;
  /** The frame that is arriving, and how many of its bytes have arrived. */
  let frame: Buffer | undefined;
  let filled = 0;
  let pieces = 0;
  /** The part of the frame room that the arriving frame holds. */
  let taken = 0;
  let timer: NodeJS.Timeout | undefined;
  let isWanted = true;
  let isChecking = false;
  /** Whether the reader waits for frame room. */
  let isWaiting = false;
  let withdraw = () => {};

  const release = () => {
    clearTimeout(timer);
    withdraw();
    const bytes = taken;
    taken = 0;
    if (bytes > 0) room.give(bytes);
  };
  const stop = (reason: string) => {
    if (socket.destroyed) return;
    socket.off('data', take);
    socket.destroy();
    [frame, rest] = [undefined, NONE];
    onFault(reason);
  };
  /** The content comes from untrusted code, so an error ends only this channel. */
  const stopFor = (error: unknown) => stop(error instanceof ScanFault ? error.message : BROKEN);
  const keepReading = () => {
    if (isWanted && !isChecking && !isWaiting) socket.resume();
    else socket.pause();
  };
  /** Resumes the reader. */
  const goOn = () => {
    try {
      cut();
      keepReading();
    } catch (error) {
      stopFor(error);
    }
  };

  /** Checks one frame and delivers it. A long frame takes several turns of the event loop. */
  function read(body: Buffer): void {
    const feed = body.indexOf(LINE_FEED);
    const head = feed === -1 ? body : body.subarray(0, feed);
    const payload = feed === -1 ? undefined : body.subarray(feed + 1);
    const parsed = parseHead(head);
    if (!payload) return void handOver(parsed, undefined, body.length);
    if (!isUtf8(payload)) throw new ScanFault(BROKEN);
    const scan = new JsonScan(payload);
    const finish = () => handOver(parsed, new Payload(payload, scan), body.length);
    if (scan.step(SMALL_BYTES)) return void finish();
    isChecking = true;
    const check = () => {
      if (socket.destroyed) return;
      try {
        if (!scan.step(SLICE_BYTES)) return void setImmediate(check);
        isChecking = false;
        finish();
      } catch (error) {
        return stopFor(error);
      }
      goOn();
    };
    setImmediate(check);
  }

  function handOver(...message: Parameters<typeof onFrame>): void {
    release();
    onFrame(...message);
  }

  /** Cuts complete frames from the rest. */
  function cut(): void {
    while (rest.length >= HEADER_BYTES && !isChecking && !isWaiting && !socket.destroyed) {
      const length = rest.readUInt32BE(0);
      if (length > MAX_FRAME_BYTES) return void stop('it sent more than the limit of one answer');
      const isSmall = length <= SMALL_BYTES;
      if (!isSmall && !room.take(length)) {
        isWaiting = true;
        withdraw = room.wait(() => {
          isWaiting = false;
          goOn();
        });
        return;
      }
      taken = isSmall ? 0 : length;
      const end = HEADER_BYTES + length;
      if (rest.length < end) return void begin(length);
      const body = rest.subarray(HEADER_BYTES, end);
      rest = rest.subarray(end);
      read(body);
    }
  }

  /** Allocates the declared size once: joining pieces repeatedly would take longer with each piece. */
  function begin(length: number): void {
    frame = Buffer.allocUnsafeSlow(length);
    filled = rest.copy(frame, 0, HEADER_BYTES);
    rest = NONE;
    pieces = 1;
    if (taken > 0) timer = setTimeout(expire, FRAME_MS);
  }

  function expire(): void {
    // A frame is not late while reading is off.
    if (isWanted) stop('it did not finish what it had begun to send');
    else timer = setTimeout(expire, FRAME_MS);
  }

  function take(chunk: Buffer): void {
    try {
      if (frame) {
        const copied = chunk.copy(frame, filled);
        filled += copied;
        pieces += 1;
        if (filled < frame.length) {
          if (pieces > MAX_PIECES) stop('it wrote in too many pieces');
          return;
        }
        const whole = frame;
        frame = undefined;
        rest = chunk.subarray(copied);
        read(whole);
      } else rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      cut();
      if (isChecking || isWaiting) socket.pause();
    } catch (error) {
      stopFor(error);
    }
  }

  socket.on('data', take);
  socket.once('close', release);
  return {
    listen(isOn) {
      isWanted = isOn;
      keepReading();
    },
    isChecking: () => isChecking,
    isBehind: () => isChecking || isWaiting || !isWanted,
  };
}

function parseHead(bytes: Buffer): unknown {
  if (bytes.length > MAX_HEAD_BYTES || !isUtf8(bytes)) throw new ScanFault(BROKEN);
  const scan = new JsonScan(bytes);
  scan.step(bytes.length + 1);
  if (scan.members > MAX_HEAD_MEMBERS || scan.lists > MAX_HEAD_MEMBERS) throw new ScanFault(BROKEN);
  return JSON.parse(bytes.toString());
}

/** Sends one message as a frame. The parts together are its JSON. */
export function writeFrame(socket: Socket, ...parts: Buffer[]): void {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(parts.reduce((length, part) => length + part.length, 0));
  socket.write(Buffer.concat([header, ...parts]));
}
