import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpLoadResult } from '../load/http.ts';
import { end, onCore } from '../support/child.ts';
import { startServer } from '../support/parley.ts';
import { cpuSeconds, descendants, hasProc } from '../support/processes.ts';
import type { Result } from '../support/report.ts';
import { median } from '../support/rounds.ts';
import { CONNECTIONS, CONTENT, type Workspace } from '../support/workspace.ts';

const PORT = 9377;
const START_MS = 300_000;
const CHANNELS = 16;
const MESSAGES = 60;
const EMOJI = ['+1', 'tada', 'eyes'];

const OWNER = { name: 'Owner', email: 'owner@example.com', password: 'correct horse battery' };

/** One of the two servers, with the same people, channels and messages. */
interface Side {
  url: string;
  /** All its processes, the database included. */
  pids(): number[];
  headers: { authorization: string };
  channelId: string;
}

/**
 * What each page reads, at Open WebUI and here: requests for each second of processor time that all processes of a server took.
 * `OPEN_WEBUI` names the program of the package `open-webui` from PyPI; without it, the case is left out.
 */
export async function peer(workspace: Workspace): Promise<Result[]> {
  const program = process.env.OPEN_WEBUI;
  if (!program || !hasProc) {
    console.error('  peer is left out: OPEN_WEBUI names no program.');
    return [];
  }
  const { cluster } = workspace;
  const ourServer = await startServer({ databaseUrl: await cluster.createDatabase('peer') });
  const theirServer = await startOpenWebui(program).catch(async (error) => {
    await ourServer.stop();
    throw error;
  });
  try {
    await ourServer.untilReady();
    const ours = await fill(ourServer.url, () => [ourServer.pid, ...cluster.pids()]);
    const theirs = await fill(theirServer.url, theirServer.pids);
    const results: Result[] = [];
    for (const [what, path] of [
      ['who am I', () => '/api/v1/auths/'],
      [`list of ${CHANNELS} channels`, () => '/api/v1/channels/'],
      [
        'newest 50 messages',
        ({ channelId }: Side) => `/api/v1/channels/${channelId}/messages?skip=0&limit=50`,
      ],
    ] as const) {
      results.push(await compareSides(workspace, what, { ours, theirs }, path));
    }
    return results;
  } finally {
    await theirServer.stop();
    await ourServer.stop();
  }
}

async function compareSides(
  workspace: Workspace,
  what: string,
  sides: { ours: Side; theirs: Side },
  path: (side: Side) => string,
): Promise<Result> {
  const rates = { ours: [] as number[], theirs: [] as number[] };
  const run = async (name: keyof typeof sides) => {
    const side = sides[name];
    const spent = () => side.pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const { url, headers } = side;
    const { seconds } = workspace;
    const load = { url, headers, method: 'GET', connections: CONNECTIONS, seconds, paths: [path(side)] };
    const before = spent();
    const { operations } = await workspace.http.ask<HttpLoadResult>(load);
    return operations / (spent() - before);
  };
  for (const name of ['ours', 'theirs'] as const) await run(name);
  for (let round = 0; round < workspace.rounds; round += 1)
    for (const name of ['ours', 'theirs'] as const) rates[name].push(await run(name));
  const [ours, theirs] = [median(rates.ours), median(rates.theirs)];
  return {
    what: `${what}, for each second of processor time`,
    unit: 'requests',
    ours,
    baseline: { what: 'Open WebUI', figure: theirs },
    ratio: ours / theirs,
    target: { ratioAtLeast: 30 },
  };
}

/** Makes channels that only their owner reads, with messages and reactions in the first one. Both servers take the same calls. */
async function fill(url: string, pids: Side['pids']): Promise<Side> {
  const { token } = await send<{ token: string }>(url, '/auths/signup', OWNER);
  const headers = { authorization: `Bearer ${token}` };
  const post = <Answer>(path: string, body: unknown) => send<Answer>(url, path, body, headers);
  let channelId = '';
  for (let n = CHANNELS; n > 0; n -= 1) {
    const { id } = await post<{ id: string }>('/channels/create', {
      name: `side-${n}`,
      description: '',
      access_grants: [],
    });
    await post(`/channels/${id}/messages/post`, { content: CONTENT });
    channelId = id;
  }
  for (let n = 0; n < MESSAGES; n += 1) {
    const { id } = await post<{ id: string }>(`/channels/${channelId}/messages/post`, { content: CONTENT });
    for (const name of EMOJI) await post(`/channels/${channelId}/messages/${id}/reactions/add`, { name });
  }
  return { url, pids, headers, channelId };
}

async function send<Answer>(url: string, path: string, body: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

/** Starts it as its documentation says, with SQLite, without the parts that fetch models from elsewhere. */
async function startOpenWebui(program: string) {
  const dataDir = await mkdtemp(join(tmpdir(), 'open-webui-bench-'));
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    DATA_DIR: dataDir,
    WEBUI_SECRET_KEY: randomBytes(32).toString('hex'),
    OFFLINE_MODE: 'true',
    HF_HUB_OFFLINE: '1',
    RAG_EMBEDDING_ENGINE: 'openai',
    RAG_OPENAI_API_KEY: 'none',
    ENABLE_OLLAMA_API: 'false',
    ENABLE_OPENAI_API: 'false',
    ENABLE_CHANNELS: 'true',
    ENABLE_VERSION_UPDATE_CHECK: 'false',
    GLOBAL_LOG_LEVEL: 'ERROR',
  };
  const [file, args] = onCore('server', [program, 'serve', '--host', '127.0.0.1', '--port', `${PORT}`]);
  const child = spawn(file, args, { env, stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const stop = async () => {
    await end(child);
    await rm(dataDir, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${PORT}`;
  const until = Date.now() + START_MS;
  while (
    !(await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error('Open WebUI did not start.');
    }
    await delay(500);
  }
  return { url, pids: () => [pid, ...descendants(pid).map((one) => one.pid)], stop };
}
