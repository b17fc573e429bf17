import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';

/**
 * Tests the door with another implementation of the protocol: python-socketio, over each transport and with
 * an upgrade between them.
 */

const FOLDER = join(import.meta.dirname, 'python');
const REQUIREMENTS = join(FOLDER, 'requirements.txt');
const HASH = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
/** One environment for all runs on this machine, since making it takes a while. */
const ENVIRONMENT = join(tmpdir(), `parley-test-socketio-${HASH}`);
const PYTHON = join(ENVIRONMENT, 'bin/python');
const run = promisify(execFile);

/** Null when it exists; otherwise the reason why it could not be made. */
async function prepare(): Promise<string | null> {
  const isMade = () =>
    access(PYTHON).then(
      () => true,
      () => false,
    );
  if (await isMade()) return null;
  const mine = `${ENVIRONMENT}.${process.pid}`;
  try {
    await run('python3', ['-m', 'venv', mine]);
    await run(join(mine, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
    // Another run may have made it first.
    await rename(mine, ENVIRONMENT).catch(() => rm(mine, { recursive: true, force: true }));
    return (await isMade()) ? null : 'the environment vanished';
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    return String(error);
  }
}

const missing = await prepare();
// In CI the test fails instead of being skipped.
if (missing && process.env.CI === 'true')
  throw new Error(`python-socketio could not be installed: ${missing}`);

let channelId: string;
const clients: ChildProcess[] = [];

const server = await startServer();
const owner = await signUp(server, 'Owner');
afterAll(async () => {
  for (const client of clients) client.kill();
  await server.close();
});

const call = async (request: string, body?: unknown) =>
  (await server.call(request, { token: owner.token, body })).body;

interface Line {
  name?: string;
  told?: { event_id?: number; channel_id: string; data: { type: string; data: { content?: string } } };
  joined?: { id: string; name: string };
  transport?: string;
  refused?: unknown;
  ended?: string;
}

/** Starts a client; resolves when it has joined or was refused. */
async function connect(transports: string[], auth: Record<string, unknown>) {
  const options = JSON.stringify({ url: server.url, transports, auth: { token: owner.token, ...auth } });
  const child = spawn(PYTHON, [join(FOLDER, 'listen.py'), options], { stdio: ['pipe', 'pipe', 'inherit'] });
  clients.push(child);
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  await until('an answer', () => lines.some(({ joined, refused }) => joined || refused));
  return {
    lines,
    emit: (name: string, sent: unknown) => child.stdin.write(`${JSON.stringify([name, sent])}\n`),
    close: () => child.stdin.end(),
  };
}

describe.skipIf(missing)('python-socketio', () => {
  it.each([
    ['over WebSocket', ['websocket']],
    ['over polling', ['polling']],
    ['from polling to WebSocket', ['polling', 'websocket']],
  ])('%s receives every event once, continues where it stopped, and is heard', async (_how, transports) => {
    channelId = (await call('POST /channels/create', { name: 'x' })).id;
    const path = `/channels/${channelId}/messages`;
    const first = await connect(transports, { events: 'envelope' });
    expect(first.lines.find(({ joined }) => joined)).toMatchObject({
      joined: { id: owner.id, name: 'Owner' },
      transport: transports.at(-1),
    });
    const { id } = await call(`POST ${path}/post`, { content: 'root' });
    await call(`POST ${path}/post`, { content: 'reply', parent_id: id });
    await call(`POST ${path}/${id}/reactions/add`, { name: 'wave' });
    await call(`POST ${path}/${id}/reactions/remove`, { name: 'wave' });
    await call(`POST ${path}/${id}/update`, { content: 'edited' });
    await call(`POST /channels/${channelId}/update`, { name: 'y' });
    await call(`DELETE ${path}/${id}/delete`);
    const log = await server.database.query<{ id: number; type: string }>(
      // The first event is that of creating the channel, before any client could listen.
      'select id::int, type from channel_event where channel_id = $1 and id > 1 order by id',
      [channelId],
    );
    const expected = log.map((event) => [event.id, event.type]);
    const types = [
      'message',
      'message:delete',
      'message:reaction:add',
      'message:reaction:remove',
      'message:reply',
      'message:update',
    ];
    expect(log.map(({ type }) => type)).toEqual(expect.arrayContaining(types));
    // This client handles each packet in a thread of its own, so packets that arrive together are handled in
    // any order.
    const ofChannel = (lines: Line[], name?: string) =>
      lines
        .flatMap(({ name: heardAs, told }) =>
          told?.channel_id === channelId && told.event_id !== undefined && (!name || name === heardAs)
            ? [[told.event_id, told.data.type] as const]
            : [],
        )
        .sort(([a], [b]) => a - b);
    await until('all events', () => ofChannel(first.lines).length >= log.length);
    expect(ofChannel(first.lines, 'events:channel')).toEqual(expected);
    first.close();

    const seen = 3;
    const second = await connect(transports, {
      events: 'named',
      last_event_ids: { [channelId]: log[seen - 1]?.id },
    });
    await until('the rest', () => ofChannel(second.lines).length >= log.length - seen);
    expect(ofChannel(second.lines)).toEqual(expected.slice(seen));
    for (const { name, told } of second.lines)
      if (told?.channel_id === channelId) expect(name).toBe(told.data.type);

    second.emit('events:channel', {
      channel_id: channelId,
      message_id: null,
      data: { type: 'typing', data: { typing: true } },
    });
    await until('the echo', () => second.lines.some(({ name }) => name === 'typing'));
    second.close();
    await until('its end', () => second.lines.some(({ ended }) => ended));
  });

  it('is refused with a wrong token and a reason', async () => {
    const { lines } = await connect(['websocket'], { token: 'wrong' });
    expect(lines).toMatchObject([{ refused: { data: { code: 'unauthenticated' } } }]);
  });
});
