import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOLDING } from '../database/embedded.support.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import {
  copyDataFolder,
  descendantsOf,
  isAlive,
  listProcesses,
  MAIN,
  OLD_NODE,
  type OtherProcess,
  type ProcessOptions,
  type ServerProcess,
  spawnMain,
} from '../support/process.ts';
import { linkEnvironment } from '../support/python.ts';
import { call, PASSWORD, startServer } from '../support/server.ts';

/** A process with the embedded database, like `npm start`. */
let dataDir: string;
const servers: ServerProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop('SIGTERM');
  await until('the processes of the killed server to end', async () => (await ours()).length === 0);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

function launch(env: Record<string, string> = {}, options?: ProcessOptions): ServerProcess {
  const server = spawnMain({ DATA_DIR: dataDir, ...env }, options);
  servers.push(server);
  return server;
}

/**
 * Processes of this data folder except those of the test: PostgreSQL has it on its command line, the server
 * in its environment.
 */
const ours = async (): Promise<OtherProcess[]> =>
  (await listProcesses()).filter(({ command }) => command.includes(dataDir));

/** All processes that a running server has started. */
async function children({ child }: ServerProcess, ...programs: RegExp[]): Promise<OtherProcess[]> {
  const find = async () => {
    const all = await descendantsOf(child.pid ?? 0);
    return programs.every((program) => all.some(({ command }) => program.test(command))) ? all : undefined;
  };
  return until(`${programs.join(' and ')} below the server`, find);
}

const signUp = (url: string, email: string) =>
  call(url, 'POST /auths/signup', { body: { email, name: 'Ada', password: PASSWORD } });

describe('a start', () => {
  it('in an empty folder prints its address and the next step once, and serves', async () => {
    const server = launch({}, { main: MAIN });
    const url = await server.ready();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    await until('readiness', async () => (await fetch(`${url}/ready`)).status === 200);
    const { stdout, stderr } = server.output;
    expect(stdout).toBe(
      `\n  Parley is running at ${url}\n  Data: ${dataDir}\n` +
        '  Open it in a browser: the first account becomes the administrator.\n\n',
    );
    expect((await signUp(url, 'ada@example.com')).body.role).toBe('admin');
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    const secret = (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim();
    expect(Buffer.from(secret, 'base64')).toHaveLength(48);
    expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600);
    expect(stdout + stderr).not.toContain(secret);
  });

  it('of the same folder again finds the accounts, also after kill -9; a second server beside it is refused', async () => {
    await copyDataFolder(dataDir);
    const first = launch();
    const { body } = await signUp(await first.ready(), 'ada@example.com');
    await first.stop();
    const second = launch();
    const url = await second.ready();
    expect(second.output.stdout).not.toContain('first account');
    expect((await call(url, 'GET /auths', { token: body.token })).body.id).toBe(body.id);
    expect((await signUp(url, 'grace@example.com')).body.role).toBe('pending');

    expect(await second.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    const third = await launch().ready();
    expect((await call(third, 'GET /auths', { token: body.token })).status).toBe(200);
    expect((await signUp(third, 'grace@example.com')).status).toBe(400);

    const beside = launch();
    expect(await beside.ended()).toEqual({ code: 1, signal: null });
    expect(beside.output.stderr).toMatch(/^[^\n]*another[^\n]*\n$/i);
    expect((await fetch(`${third}/ready`)).status).toBe(200);
  });

  it('never prints SECRET_KEY', async () => {
    const SECRET_KEY = 'shown-nowhere-shown-nowhere-shown-nowhere';
    const database = await createDatabase();
    const server = launch({ DATABASE_URL: database.url, SECRET_KEY, LOG_LEVEL: 'trace', ENV: 'dev' });
    const url = await server.ready();
    const { body } = await signUp(url, 'ada@example.com');
    await signUp(url, 'not an address');
    const shown = [];
    for (const path of ['/openapi.json', '/ready', '/api/v1/configs/export', '/nothing']) {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${body.token}` } });
      shown.push(await answer.text());
    }
    await server.stop();
    shown.push(server.output.stdout, server.output.stderr);
    expect(shown.join('\n')).not.toContain(SECRET_KEY);
    await expect(stat(join(dataDir, 'secret.key'))).rejects.toThrow('ENOENT');
    await database.drop();
  });
});

describe('an old Node', () => {
  it.skipIf(!OLD_NODE)('is refused in one line that names what to use instead', () => {
    const { status, stdout, stderr } = spawnSync(OLD_NODE ?? '', [MAIN], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^This is Node \d+\.\d+\.\d+, .* start it with npm start\.\n$/);
  });
});

describe('a stop', () => {
  it.each([
    ['SIGTERM', 'SIGTERM', 1],
    ['SIGINT twice, since npm repeats the signal of a terminal,', 'SIGINT', 2],
  ] as const)('by %s leaves no process behind', async (_how, signal, times) => {
    await copyDataFolder(dataDir);
    await linkEnvironment(dataDir);
    const server = launch({ PYTHON: '' });
    await server.ready();
    const started = await children(server, /postgres/, /python/);
    for (let sent = 1; sent < times; sent += 1) server.child.kill(signal);
    expect(await server.stop(signal)).toEqual({ code: 0, signal: null });
    expect(started.filter(isAlive)).toEqual([]);
    expect(await ours()).toEqual([]);
  });

  it('during a start leaves no process behind, and the next start works', async () => {
    await writeFile(join(dataDir, 'postgres.hold'), '');
    const server = launch({ NODE_OPTIONS: `--import=${HOLDING}` });
    const isBegun = async () => (await readdir(dataDir)).some((name) => name.startsWith('postgres.new-'));
    await until('the cluster to be made', isBegun);
    const started = await descendantsOf(server.child.pid ?? 0);
    const stopped = server.stop();
    await rm(join(dataDir, 'postgres.hold'));
    const end = await stopped;
    expect(end).toEqual({ code: 0, signal: null });
    expect(server.output.stdout).toBe('');
    expect(started.filter(isAlive)).toEqual([]);
    expect(await ours()).toEqual([]);
    await launch().ready();
  });

  it('follows the end of its database', async () => {
    await copyDataFolder(dataDir);
    const server = launch();
    await server.ready();
    const [postgres] = await children(server, /postgres/);
    process.kill(postgres?.pid ?? 0, 'SIGKILL');
    expect(await server.ended()).toEqual({ code: 1, signal: null });
    expect(server.output.stderr).toContain('The embedded PostgreSQL has ended. The server stops.\n');
  });
});

describe('/ready', () => {
  it('reports what is not ready yet, and /health reports that the process is alive', async () => {
    const python = join(dataDir, 'slow-python');
    await writeFile(python, '#!/bin/sh\nexec sleep 60\n');
    await chmod(python, 0o755);
    const server = await startServer({ env: { PYTHON: python } });
    const response = await fetch(`${server.url}/ready`);
    expect([response.status, await response.json()]).toEqual([
      503,
      {
        ready: false,
        parts: {
          server: { state: 'ok', detail: 'serves' },
          database: { state: 'ok', detail: 'answers' },
          python: { state: 'down', detail: 'starting' },
        },
      },
    ]);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await server.close();
  });
});
