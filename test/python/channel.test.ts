import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readFrames } from '../../src/python/channel.ts';
import { MAX_FRAME_BYTES } from '../../src/python/protocol.ts';
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
let messages: unknown[];
let faults: string[];
/** What is done with each message. */
let take: (message: unknown) => void;

beforeEach(async () => {
  [messages, faults] = [[], []];
  take = (message) => messages.push(message);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  writer = connect(address);
  writer.on('error', () => {});
  const [reader] = await accepted;
  readFrames(
    reader,
    (message) => take(message),
    (reason) => faults.push(reason),
  );
  return () => {
    writer.destroy();
    reader.destroy();
  };
});

function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

/** Writes bytes so that they arrive apart from what follows. */
async function write(bytes: Buffer): Promise<void> {
  await new Promise((resolve) => writer.write(bytes, resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
const fault = () => until('a fault', () => faults[0]);

describe('frames', () => {
  test('arrive whole wherever they are cut, and however many at once', async () => {
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

  test('of the longest kind arrive, with one behind', async () => {
    const text = 'x'.repeat(MAX_FRAME_BYTES - 2);
    await write(Buffer.concat([frame(JSON.stringify(text)), frame('1')]));
    await until('both', () => messages.length === 2);
    expect(messages[0] === text).toBe(true);
    expect(messages[1]).toBe(1);
  });

  test.each<[string, Buffer, RegExp]>([
    ['too long', frame('x'.repeat(MAX_FRAME_BYTES + 1)), /more than the limit/],
    ['empty', frame(''), /wrote to the channel/],
    ['no JSON', frame('{"a":'), /wrote to the channel/],
    ['of bytes that are no text', Buffer.from([0, 0, 0, 2, 0xff, 0xfe]), /wrote to the channel/],
    ['nested', frame('['.repeat(20_000) + ']'.repeat(20_000)), /too deep/],
    ['many lists', frame(`[${'[],'.repeat(1_000_000)}0]`), /too many/],
    ['many objects', frame(`[${'{},'.repeat(250_000)}0]`), /too many/],
  ])('that are %s are a fault, and nothing is read after them', async (_what, bytes, reason) => {
    await write(Buffer.concat([frame('1'), bytes, frame('2')]));
    expect(await fault()).toMatch(reason);
    expect([messages, faults.length]).toEqual([[1], 1]);
  });

  test('that are large but honest arrive', async () => {
    const pairs = `[${'[8.54128,47.37694],'.repeat(400_000)}0]`;
    const rows = `[${'{"name":"Ann","city":"Bern","age":31},'.repeat(200_000)}0]`;
    const numbers = `[${'1,'.repeat(4_000_000)}0]`;
    for (const text of [pairs, rows, numbers]) await write(frame(text));
    await until('all', () => messages.length === 3);
    expect(messages.map((one) => (one as unknown[]).length)).toEqual([400_001, 200_001, 4_000_001]);
  });

  test('that somebody throws at are a fault', async () => {
    take = () => {
      throw new RangeError('Maximum call stack size exceeded');
    };
    await write(Buffer.concat([frame('1'), frame('2')]));
    expect(await fault()).toMatch(/wrote to the channel/);
    expect(faults).toHaveLength(1);
  });

  test('byte by byte are a fault in the end', async () => {
    const bytes = frame('x'.repeat(1_000_000));
    for (let at = 0; faults.length === 0 && at < bytes.length; at += 1) {
      await write(bytes.subarray(at, at + 1));
    }
    expect(faults).toEqual([expect.stringMatching(/too many pieces/)]);
  });
});
