import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { linkEnvironment } from '../../test/support/python.ts';
import { end, onCore } from './child.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** That of `npm start`. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));

const PASSWORD = 'correct horse battery';

export interface Server {
  url: string;
  pid: number;
  /** Waits until the Python environment is made, or has failed. */
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

export interface Parley extends Server {
  /**
   * One REST call under `/api/v1` as the administrator: `METHOD path`. @throws Error unless the answer is 2xx
   */
  asAdministrator: Call;
  /** The same as an ordinary member, like most callers. */
  call: Call;
  /** The token of the member. */
  token: string;
  administratorToken: string;
  userId: string;
}

type Call = <Answer>(request: string, body?: unknown) => Promise<Answer>;

export interface ServerOptions {
  databaseUrl?: string;
  /** A folder that the caller has prepared, and removes. */
  dataDir?: string;
  /** Additional environment variables. */
  env?: Record<string, string>;
  /** Whether it may use all cores, where no load runs beside it. */
  isAlone?: boolean;
  /** Whether it makes a Python environment of its own, as in production: a creation of a tool takes 60 ms more with a shared one. */
  makesPython?: boolean;
}

/** Starts the server like `npm start`, in a new data folder; the default is its embedded database. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const dataDir = options.dataDir ?? (await newDataDir(options));
  const { PATH, HOME, PYTHON } = process.env;
  const { databaseUrl = '' } = options;
  const env = {
    PATH,
    HOME,
    PYTHON,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    PORT: '0',
    LOG_LEVEL: 'warn',
    EMBEDDED_MODEL: 'off',
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...options.env,
  };
  const command: [string, string[]] = [process.execPath, [MAIN]];
  const [file, args] = options.isAlone ? command : onCore('server', command.flat());
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    await end(child);
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const url = await addressIn(child.stdout);
    return { url, pid: child.pid ?? 0, untilReady: () => untilReady(url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** With a shared Python environment: making one takes the processor for half a minute. */
async function newDataDir({ makesPython = false }: ServerOptions): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  if (!makesPython) await linkEnvironment(dataDir);
  return dataDir;
}

/** Starts a server with an administrator and a member. */
export async function startParley(options: ServerOptions): Promise<Parley> {
  const server = await startServer(options);
  const { url } = server;
  // A folder of the caller is for a case that measures the start.
  if (!options.dataDir) await server.untilReady();
  const signUp = (name: string) => {
    const account = { name, email: `${name}@example.com`, password: PASSWORD };
    return callRest<{ id: string; token: string }>(url, 'POST /auths/signup', '', account);
  };
  const { token: administrator } = await signUp('administrator');
  const asAdministrator: Call = (request, body) => callRest(url, request, administrator, body);
  const { id } = await signUp('member');
  await asAdministrator(`POST /users/${id}/update`, { role: 'user' });
  // A new role ends the sessions of the old role.
  const credentials = { email: 'member@example.com', password: PASSWORD };
  const { token } = await callRest<{ token: string }>(url, 'POST /auths/signin', '', credentials);
  return {
    ...server,
    asAdministrator,
    call: (request, body) => callRest(url, request, token, body),
    token,
    administratorToken: administrator,
    userId: id,
  };
}

/** Reads the output to its end, so that the server never waits for a reader. */
function addressIn(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface(output)
      .on('line', (line) => {
        const url = /running at (http:\S+)/.exec(line)?.[1];
        if (url) resolve(url);
      })
      .on('close', () => reject(new Error('The server ended without saying its address.')));
  });
}

const READY_MS = 300_000;

async function untilReady(url: string): Promise<void> {
  const end = Date.now() + READY_MS;
  while (!(await fetch(`${url}/ready`)).ok) {
    if (Date.now() > end) throw new Error(`The server was not ready after ${READY_MS / 1000} s.`);
    await delay(200);
  }
}

async function callRest<Answer>(url: string, request: string, token: string, body: unknown): Promise<Answer> {
  const [method = 'GET', path = ''] = request.split(' ');
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${request} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Answer;
}
