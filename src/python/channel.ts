import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { FrameRoom } from './channel.room.ts';
import { MAX_FRAME_BYTES } from './limits.ts';
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
export function readFrames(socket: Socket, room: FrameRoom, handlers: FrameHandlers): FrameReader {
  return new SocketFrames(socket, room, handlers);
}

/** Cuts the bytes that arrive into frames (`#cut`), checks each (`#read`) and delivers it (`#handOver`). */
class SocketFrames implements FrameReader {
  readonly #socket: Socket;
  readonly #room: FrameRoom;
  readonly #handlers: FrameHandlers;
  /** Bytes that are not yet cut. */
  #rest: Buffer = NONE;
  /** The frame of which only a part has arrived: its buffer, and how many bytes of it, in how many pieces. */
  #frame: Buffer | undefined;
  #filled = 0;
  #pieces = 0;
  /** The part of the frame room that the current frame holds. */
  #taken = 0;
  #deadline: NodeJS.Timeout | undefined;
  /** Why reading pauses: it was turned off, a frame is being checked, or there is no frame room. */
  #isWanted = true;
  #isChecking = false;
  #isWaiting = false;
  #stopWaiting = () => {};

  constructor(socket: Socket, room: FrameRoom, handlers: FrameHandlers) {
    this.#socket = socket;
    this.#room = room;
    this.#handlers = handlers;
    socket.on('data', this.#take);
    socket.once('close', () => this.#release());
  }

  listen(isOn: boolean): void {
    this.#isWanted = isOn;
    this.#keepReading();
  }

  isChecking(): boolean {
    return this.#isChecking;
  }

  isBehind(): boolean {
    return this.#isChecking || this.#isWaiting || !this.#isWanted;
  }

  readonly #take = (chunk: Buffer): void => {
    try {
      if (this.#frame) this.#fill(this.#frame, chunk);
      else {
        this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
        this.#cut();
      }
      if (this.#isChecking || this.#isWaiting) this.#socket.pause();
    } catch (error) {
      this.#stopFor(error);
    }
  };

  /** Adds to the frame of which a part has arrived. */
  #fill(frame: Buffer, chunk: Buffer): void {
    const copied = chunk.copy(frame, this.#filled);
    this.#filled += copied;
    this.#pieces += 1;
    if (this.#filled < frame.length) {
      if (this.#pieces > MAX_PIECES) this.#stop('it wrote in too many pieces');
      return;
    }
    this.#frame = undefined;
    this.#rest = chunk.subarray(copied);
    this.#read(frame);
    this.#cut();
  }

  /** Cuts complete frames from the rest. */
  #cut(): void {
    while (
      this.#rest.length >= HEADER_BYTES &&
      !this.#isChecking &&
      !this.#isWaiting &&
      !this.#socket.destroyed
    ) {
      const length = this.#rest.readUInt32BE(0);
      if (length > MAX_FRAME_BYTES) return void this.#stop('it sent more than the limit of one answer');
      const isSmall = length <= SMALL_BYTES;
      if (!isSmall && !this.#room.take(length)) return void this.#waitForRoom();
      this.#taken = isSmall ? 0 : length;
      const end = HEADER_BYTES + length;
      if (this.#rest.length < end) return void this.#begin(length);
      const body = this.#rest.subarray(HEADER_BYTES, end);
      this.#rest = this.#rest.subarray(end);
      this.#read(body);
    }
  }

  #waitForRoom(): void {
    this.#isWaiting = true;
    this.#stopWaiting = this.#room.wait(() => {
      this.#isWaiting = false;
      this.#goOn();
    });
  }

  /** Allocates the declared size once: joining pieces repeatedly would take longer with each piece. */
  #begin(length: number): void {
    this.#frame = Buffer.allocUnsafeSlow(length);
    this.#filled = this.#rest.copy(this.#frame, 0, HEADER_BYTES);
    this.#rest = NONE;
    this.#pieces = 1;
    if (this.#taken > 0) this.#setDeadline();
  }

  #setDeadline(): void {
    this.#deadline = setTimeout(() => {
      // A frame is not late while reading is off.
      if (this.#isWanted) this.#stop('it did not finish what it had begun to send');
      else this.#setDeadline();
    }, FRAME_MS);
  }

  /** Checks one frame and delivers it. A long frame takes several turns of the event loop. */
  #read(body: Buffer): void {
    const feed = body.indexOf(LINE_FEED);
    const head = parseHead(feed === -1 ? body : body.subarray(0, feed));
    if (feed === -1) return void this.#handOver(head, undefined, body.length);
    const payload = body.subarray(feed + 1);
    if (!isUtf8(payload)) throw new ScanFault(BROKEN);
    const scan = new JsonScan(payload);
    const finish = () => this.#handOver(head, new Payload(payload, scan), body.length);
    if (scan.step(SMALL_BYTES)) return void finish();
    this.#isChecking = true;
    const check = () => {
      if (this.#socket.destroyed) return;
      try {
        if (!scan.step(SLICE_BYTES)) return void setImmediate(check);
        this.#isChecking = false;
        finish();
      } catch (error) {
        return this.#stopFor(error);
      }
      this.#goOn();
    };
    setImmediate(check);
  }

  #handOver(head: unknown, payload: Payload | undefined, bytes: number): void {
    this.#release();
    this.#handlers.onFrame(head, payload, bytes);
  }

  /** Gives back what the current frame holds. */
  #release(): void {
    clearTimeout(this.#deadline);
    this.#stopWaiting();
    const bytes = this.#taken;
    this.#taken = 0;
    if (bytes > 0) this.#room.give(bytes);
  }

  /** Continues after a pause. */
  #goOn(): void {
    try {
      this.#cut();
      this.#keepReading();
    } catch (error) {
      this.#stopFor(error);
    }
  }

  #keepReading(): void {
    if (this.#isWanted && !this.#isChecking && !this.#isWaiting) this.#socket.resume();
    else this.#socket.pause();
  }

  /** The content comes from untrusted code, so an error ends only this channel. */
  #stopFor(error: unknown): void {
    this.#stop(error instanceof ScanFault ? error.message : BROKEN);
  }

  #stop(reason: string): void {
    if (this.#socket.destroyed) return;
    this.#socket.off('data', this.#take);
    this.#socket.destroy();
    this.#frame = undefined;
    this.#rest = NONE;
    this.#handlers.onFault(reason);
  }
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
