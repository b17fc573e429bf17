import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type FrameRoom, openFrameRoom } from '../../src/python/channel.room.ts';
import { type Payload, readFrames } from '../../src/python/channel.ts';
import { MAX_FRAME_BYTES } from '../../src/python/limits.ts';
import { until } from '../support/poll.ts';

const folder = await mkdtemp(join(tmpdir(), 'parley-channel-'));
const address = join(folder, 'socket');
const server = createServer().listen(address);
await once(server, 'listening');
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

let writer: Socket;
/** The content of each frame: its payload, or its head when it has none. */
let messages: unknown[];
let faults: string[];
/** Handles each message; tests replace it. */
let take: (message: unknown) => void;

/** Opens a socket whose frames are read. */
async function open(room: FrameRoom): Promise<Socket> {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const writer = connect(address);
  writer.on('error', () => {});
  const [reader] = await accepted;
  readFrames(reader, room, {
    onFrame: (head, payload) => take(payload && isParsed ? payload.parse() : (payload ?? head)),
    onFault: (reason) => faults.push(reason),
  });
  onTestFinished(() => {
    writer.destroy();
    reader.destroy();
  });
  return writer;
}

let isParsed: boolean;

beforeEach(async () => {
  isParsed = true;
  [messages, faults] = [[], []];
  take = (message) => messages.push(message);
  writer = await open(openFrameRoom());
});

/** A frame with a head only, or with a head and a payload. */
function frame(text: string, payload?: string): Buffer {
  const body = Buffer.from(payload === undefined ? text : `${text}\n${payload}`);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

/** Writes bytes so that they arrive separately from the next write. */
async function write(bytes: Buffer): Promise<void> {
  await new Promise((resolve) => writer.write(bytes, resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
const fault = () => until('a fault', () => faults[0]);

describe('frames', () => {
  test('arrive whole wherever they are cut, and in any number at once', async () => {
    const sent = [{ a: 'é' }, [], 'x', { b: [1, { c: null }] }, 0];
    const bytes = Buffer.concat(sent.map((one) => frame(JSON.stringify(one))));
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      await write(bytes.subarray(0, cut));
      await write(bytes.subarray(cut));
    }
    for (const byte of bytes) await write(Buffer.from([byte]));
    await until('all', () => messages.length === (bytes.length + 2) * sent.length);
    expect(messages).toEqual(Array.from({ length: bytes.length + 2 }, () => sent).flat());
    expect(faults).toEqual([]);
  });

  test('of the maximum length arrive, with another frame behind', async () => {
    const text = 'x'.repeat(MAX_FRAME_BYTES - 4);
    await write(Buffer.concat([frame('1', JSON.stringify(text)), frame('1')]));
    await until('both', () => messages.length === 2);
    expect(messages[0] === text).toBe(true);
    expect(messages[1]).toBe(1);
  });

  test.each<[string, Buffer, RegExp]>([
    ['too long', frame('x'.repeat(MAX_FRAME_BYTES + 1)), /more than the limit/],
    ['empty', frame(''), /wrote to the channel/],
    ['not JSON', frame('{"a":'), /wrote to the channel/],
    ['of two heads', frame('1,2'), /wrote to the channel/],
    ['of a head that is too long', frame(JSON.stringify('x'.repeat(128 * 1024))), /wrote to the channel/],
    [
      'of a head with many members',
      frame(`{${Array.from({ length: 33 }, (_, n) => `"${n}":0`)}}`),
      /wrote to the channel/,
    ],
    ['of bytes that are not UTF-8', Buffer.from([0, 0, 0, 2, 0xff, 0xfe]), /wrote to the channel/],
    ['empty behind the head', frame('1', ''), /wrote to the channel/],
    ['not JSON behind the head', frame('1', '[1,]'), /wrote to the channel/],
    ['a second answer behind the head', frame('1', '1},{"result":2'), /wrote to the channel/],
    [
      'not UTF-8 behind the head',
      Buffer.from([0, 0, 0, 6, 0x31, 0x0a, 0x22, 0xff, 0xfe, 0x22]),
      /wrote to the channel/,
    ],
    ['nested', frame('1', '['.repeat(20_000) + ']'.repeat(20_000)), /too deep/],
    ['many lists', frame('1', `[${'[],'.repeat(1_000_000)}0]`), /too many/],
    ['many objects', frame('1', `[${'{},'.repeat(250_000)}0]`), /too many/],
    ['parsed and of many members', frame('1', `{${'"a":0,'.repeat(20_000)}"b":0}`), /too many members/],
  ])('that are %s are a fault, and the frames behind them are not read', async (_what, bytes, reason) => {
    await write(Buffer.concat([frame('1'), bytes, frame('2')]));
    expect(await fault()).toMatch(reason);
    expect([messages, faults.length]).toEqual([[1], 1]);
  });

  test('that are large but valid arrive whole', async () => {
    const pairs = `[${'[8.54128,47.37694],'.repeat(400_000)}0]`;
    const rows = `[${'{"name":"Ann","city":"Bern","age":31},'.repeat(200_000)}0]`;
    const numbers = `[${'1,'.repeat(4_000_000)}0]`;
    const names = `{${Array.from({ length: 500_000 }, (_, n) => `"n${n}":0`)}}`;
    const sent = [pairs, rows, numbers, names];
    take = (payload) => messages.push((payload as Payload).text);
    isParsed = false;
    for (const text of sent) await write(frame('1', text));
    await until('all', () => messages.length === sent.length);
    expect(sent.every((text, at) => messages[at] === text)).toBe(true);
  });

  test('that are long share the room of all sockets; short frames do not', async () => {
    const long = frame('1', JSON.stringify('x'.repeat(100_000)));
    const room = openFrameRoom(long.length);
    const [one, other] = [await open(room), await open(room)];
    // The unfinished frame takes all of the room.
    writer = one;
    await write(long.subarray(0, -1));
    writer = other;
    await write(Buffer.concat([frame('"short"'), long, frame('"last"')]));
    await until('the short one', () => messages.length === 1);
    writer = one;
    await write(long.subarray(-1));
    await until('all', () => messages.length === 4);
    expect(messages.map((one) => String(one).slice(0, 5))).toEqual(['short', 'xxxxx', 'xxxxx', 'last']);
    // A socket that closes gives its room back.
    writer = one;
    await write(long.subarray(0, -1));
    one.destroy();
    writer = other;
    await write(long);
    await until('the last', () => messages.length === 5);
  });

  test('whose handler throws are a fault', async () => {
    take = () => {
      throw new RangeError('Maximum call stack size exceeded');
    };
    await write(Buffer.concat([frame('1'), frame('2')]));
    expect(await fault()).toMatch(/wrote to the channel/);
    expect(faults).toHaveLength(1);
  });

  test('that arrive byte by byte are a fault after many pieces', async () => {
    const bytes = frame('1', 'x'.repeat(1_000_000));
    for (let at = 0; faults.length === 0 && at < bytes.length; at += 1) {
      await write(bytes.subarray(at, at + 1));
    }
    expect(faults).toEqual([expect.stringMatching(/too many pieces/)]);
  });
});
