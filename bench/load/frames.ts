import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

export interface FrameSocket {
  /** Sends a text of at most 65,535 bytes. */
  send(text: string): void;
}

export interface FrameSocketOptions {
  url: string;
  headers: Record<string, string>;
  onOpen(socket: FrameSocket): void;
  /** The text of the frame begins at `start` in `buffer`, which the next read overwrites. */
  onFrame(socket: FrameSocket, buffer: Buffer, start: number): void;
  onEnd(): void;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * All sockets share one read buffer, because one process receives the load of a whole server, and a full
 * WebSocket client takes more time for a frame than a server.
 */
const shared = Buffer.allocUnsafe(256 * 1024);

/**
 * The reading half of a WebSocket client, which finds frames without parsing their content (RFC 6455, section
 * 5.2).
 */
export function openFrameSocket(options: FrameSocketOptions): void {
  const { hostname, port, host, pathname, search } = new URL(options.url);
  let isOpen = false;
  let rest: Buffer | null = null;

  const connection = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: shared,
      callback(length, buffer) {
        const read = Buffer.from(buffer.buffer, buffer.byteOffset, length);
        const chunk = rest ? Buffer.concat([rest, read]) : read;
        const used = take(chunk);
        rest = used < chunk.length ? Buffer.from(chunk.subarray(used)) : null;
        return true;
      },
    },
  });
  connection.on('error', options.onEnd).on('close', options.onEnd);
  const head = {
    Host: host,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...options.headers,
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const socket = { send: (text: string) => void connection.write(maskedFrame(text)) };

  /** Hands out complete frames; returns how much of the chunk they used. */
  function take(chunk: Buffer): number {
    let at = 0;
    if (!isOpen) {
      const end = chunk.indexOf(END_OF_HEAD);
      if (end < 0) return 0;
      if (!chunk.toString('latin1', 0, end).startsWith('HTTP/1.1 101'))
        throw new Error(`${options.url}: no 101`);
      isOpen = true;
      at = end + END_OF_HEAD.length;
      options.onOpen(socket);
    }
    for (;;) {
      const short = chunk[at + 1] ?? 0;
      if (short === 127) throw new Error('A frame of more than 64 KiB.');
      const start = at + (short === 126 ? 4 : 2);
      if (start > chunk.length) return at;
      const end = start + (short === 126 ? chunk.readUInt16BE(at + 2) : short);
      if (end > chunk.length) return at;
      options.onFrame(socket, chunk, start);
      at = end;
    }
  }
}

const TEXT = 0x81;
const MASKED = 0x80;

/** Clients must mask their frames; a mask of zeros leaves the text unchanged. */
function maskedFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head =
    body.length < 126
      ? [TEXT, MASKED | body.length]
      : [TEXT, MASKED | 126, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), body]);
}
