import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChannelEvent, createClient, type ParleyClient } from '../../client/src/index.ts';
import { until } from '../support/poll.ts';
import { descendantsOf, freePort, isAlive, type OtherProcess } from '../support/process.ts';
import { linkEnvironment } from '../support/python.ts';
import { call } from '../support/server.ts';

/*
 * The first steps of a new user, with the command of the README: start in an empty folder, sign up, create a
 * tool and call it, create a channel, post, and see the message arrive in two different clients; then stop
 * everything.
 */

const ROOT = join(import.meta.dirname, '../..');
const ANN = { name: 'Ann', email: 'ann@example.com', password: 'correct horse battery' };
const FIRST_START_MS = 120_000;

const TOOL = `"""
title: Dice
description: Throws dice
"""
import random
from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        sides: int = Field(default=6, description="Sides of a die")

    def __init__(self):
        self.valves = self.Valves()

    async def throw(self, count: int, seed: int = 1) -> dict:
        """
        Throws dice.

        :param count: how many dice
        :param seed: the same seed gives the same throw
        """
        dice = random.Random(seed)
        return {"dice": [dice.randint(1, self.valves.sides) for _ in range(count)]}
`;

let dataDir: string;
let url: string;
let server: ReturnType<typeof spawn>;
let output = '';
let client: ParleyClient | undefined;
let socket: Socket | undefined;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parley-story-'));
  // `python/environment.test` makes one from nothing, which takes long.
  await mkdir(join(dataDir, 'data'));
  await linkEnvironment(join(dataDir, 'data'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  // Only the variables that every shell has; `npm test` must not configure this npm.
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|vite|node_|data_dir|env$)/i.test(name));
  server = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...Object.fromEntries(own), PORT: String(port), DATA_DIR: join(dataDir, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [server.stdout, server.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
});
afterAll(async () => {
  socket?.disconnect();
  await client?.close();
  if (server.exitCode === null && server.signalCode === null) {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
  await rm(dataDir, { recursive: true, force: true });
});

const failWithOutput = (error: Error) => {
  throw new Error(`${error.message} The server said:\n${output}`, { cause: error });
};

it('a new user gets from an empty folder to a live message, and stops everything', {
  timeout: 2 * FIRST_START_MS,
}, async () => {
  await until('the block that says where it runs', () => output.includes(url), FIRST_START_MS).catch(
    failWithOutput,
  );
  expect(output).toContain(join(dataDir, 'data'));

  // Sign up with plain fetch.
  const signUp = await call(url, 'POST /auths/signup', { body: ANN });
  expect(signUp).toMatchObject({ status: 200, body: { name: 'Ann', role: 'admin', token_type: 'Bearer' } });
  const { token } = signUp.body;

  // The server answers before tools are ready; these start in the background.
  const ready = async () =>
    (await fetch(`${url}/ready`)).json() as Promise<{ ready: boolean; parts: object }>;
  await until('everything to be ready', async () => (await ready()).ready, FIRST_START_MS).catch(
    failWithOutput,
  );
  expect(await ready()).toMatchObject({
    parts: { python: { detail: expect.stringMatching(/ready|Python/) } },
  });

  // Create a tool from Python source and call it with the typed client.
  client = createClient({ url, token });
  const { api } = client;
  const tool = await api.tools.create.mutate({
    id: 'dice',
    name: 'Dice',
    content: TOOL,
    meta: { description: 'Throws dice' },
  });
  expect(tool).toMatchObject({ id: 'dice', meta: { manifest: { title: 'Dice' } } });
  expect(tool.specs).toMatchObject([{ name: 'throw', parameters: { required: ['count'] } }]);
  const thrown = await api.tools.invoke.mutate({ id: 'dice', function: 'throw', arguments: { count: 3 } });
  expect(thrown.result).toEqual({ dice: [expect.any(Number), expect.any(Number), expect.any(Number)] });

  // Two clients listen before the channel exists: the typed client and a plain Socket.IO client.
  const byTyped: ChannelEvent[] = [];
  const subscription = client.events({ onEvent: (event) => byTyped.push(event) });
  await subscription.ready;
  const bySocket: ChannelEvent[] = [];
  socket = io(url, { path: '/ws/socket.io', auth: { token } });
  socket.on('events:channel', (event) => bySocket.push(event));
  await once(socket as unknown as NodeJS.EventEmitter, 'connect');

  // Create a channel with the typed client, and post a message with plain fetch.
  const channel = await api.channels.create.mutate({ name: 'general' });
  const body = { content: 'Hello, world! 👋', temp_id: 'first' };
  const posted = await call(url, `POST /channels/${channel.id}/messages/post`, { token, body });
  expect(posted).toMatchObject({ status: 200, body: { ...body, channel_id: channel.id } });
  for (const heard of [byTyped, bySocket]) {
    await until('the message', () => heard.length > 1);
    expect(heard).toHaveLength(2);
    expect(heard[0]).toMatchObject({ event_id: 1, data: { type: 'channel:created' } });
    expect(heard[1]).toMatchObject({ event_id: 2, data: { type: 'message' }, user: { name: 'Ann' } });
    expect(heard[1]?.data.data).toEqual(posted.body);
  }
  const { temp_id, ...message } = posted.body;
  expect(temp_id).toBe('first');
  expect(await api.messages.list.query({ id: channel.id })).toEqual([message]);

  // Stop the server: clients are told, and no process and no lock stays.
  const started = await descendantsOf(server.pid as number);
  expect(started.map(({ command }) => command).join('\n')).toMatch(/postgres/);
  server.kill('SIGTERM');
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  const alive = (): OtherProcess[] => started.filter(isAlive);
  await until('every process to end', () => alive().length === 0).catch(() => expect(alive()).toEqual([]));
  await expect(fetch(`${url}/health`)).rejects.toThrow();
  await until('the socket to notice', () => socket?.connected === false);
  await expect(access(join(dataDir, 'data', 'postgres', 'postmaster.pid'))).rejects.toThrow();
});
