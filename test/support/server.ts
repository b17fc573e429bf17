import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { request } from 'undici';
import type { App } from '../../src/app.doors.ts';
import { startApp } from '../../src/app.ts';
import type { Egress } from '../../src/egress/egress.ts';
import { readEnv } from '../../src/env.ts';
import type { JobKind } from '../../src/jobs/kind.ts';
import { createLog } from '../../src/log.ts';
import type { Python } from '../../src/python/pool.ts';
import { createDatabase, type TestDatabase } from './database.ts';

export interface TestServer {
  url: string;
  database: TestDatabase;
  dataDir: string;
  /** Calls the REST door: `method path`, with a token and a JSON body where given. */
  call(request: string, options?: CallOptions): Promise<Answer>;
  /** The same with the token of a person: `as(ann)('POST /channels/create', { name: 'general' })`. */
  as(person: Pick<Person, 'token'>): (request: string, body?: unknown) => Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  // The shape is what the test is about, so it says itself what it expects.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  headers: Headers;
}

export interface ServerOptions {
  database?: TestDatabase;
  dataDir?: string;
  env?: Record<string, string>;
  /**
   * For tests of tools. By default, a server without a data folder of its own has no Python, since making an
   * environment takes a while.
   */
  python?: Python;
  /** For tests with another server on this machine, which the default egress refuses. */
  egress?: Egress;
  /** Receives the log at its lowest level; by default only errors are printed. */
  log?: DestinationStream;
  onFatal?: (reason: string) => void;
  /** Kinds of jobs in addition to those of the server. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
  jobKinds?: readonly JobKind<any>[];
}

/** Starts a server in this process, on a free port, with a new database or the given one. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const database = options.database ?? (await createDatabase());
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'parley-test-')));
  const env = readEnv({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'error',
    // Makes hashing of passwords nearly free.
    ENV: 'test',
    EMBEDDED_MODEL: 'off',
    // A data folder has a secret; a database with the default data folder is read and written with the same
    // one.
    ...(options.database && !options.dataDir && { SECRET_KEY: 'the secret of servers on one database' }),
    // A data folder of the test may have an environment (`linkEnvironment`).
    ...(!options.dataDir && { PYTHON: '/dev/null' }),
    ...options.env,
  });
  const app: App = await startApp({
    env,
    log: options.log ? createLog('trace', options.log) : createLog(env.LOG_LEVEL),
    python: options.python,
    egress: options.egress,
    jobKinds: options.jobKinds,
    onFatal:
      options.onFatal ??
      ((reason) => {
        throw new Error(reason);
      }),
  });
  return {
    url: app.url,
    database,
    dataDir,
    call: (request, callOptions) => call(app.url, request, callOptions),
    as:
      ({ token }) =>
      (request, body) =>
        call(app.url, request, { token, body }),
    async close() {
      await app.close();
      if (!options.database) await database.drop();
      if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs work with a server of this `SECRET_KEY` on a database, and closes the server afterwards. */
export async function withSecret<T>(
  database: TestDatabase,
  secret: string,
  work: (server: TestServer) => Promise<T>,
): Promise<T> {
  const server = await startServer({ database, env: { SECRET_KEY: secret, LOG_LEVEL: 'silent' } });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

/** One REST call under `/api/v1`. */
export async function call(url: string, asked: string, options: CallOptions = {}): Promise<Answer> {
  const [method = 'GET', path = '/'] = asked.split(' ');
  // A third of the processor time of `fetch`.
  const answer = await request(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...FETCH_HEADERS,
      ...(options.token && { authorization: `Bearer ${options.token}` }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  });
  const text = await answer.body.text();
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text), headers };
}

/** What `fetch` of Node sends. */
const FETCH_HEADERS = { accept: '*/*', 'accept-language': '*', 'user-agent': 'node' };

export interface Person {
  id: string;
  email: string;
  token: string;
}

/** A proxy on this machine: the environment of the server for it, and the headers that it sends. */
export const PROXY = {
  env: { TRUSTED_PROXIES: '127.0.0.1', PROXY_SECRET: 'a-secret-of-the-proxy-and-the-server' },
  headers: { 'x-proxy-secret': 'a-secret-of-the-proxy-and-the-server' },
};

export const PASSWORD = 'correct horse battery';

/** Signs up a new person; the first of a server is its administrator. */
export async function signUp(server: TestServer, name: string): Promise<Person> {
  const email = `${name.toLowerCase()}@example.com`;
  const { status, body } = await server.call('POST /auths/signup', {
    body: { email, name, password: PASSWORD },
  });
  if (status !== 200) throw new Error(`Sign-up of ${name} answered ${status}: ${JSON.stringify(body)}`);
  return { id: body.id, email, token: body.token };
}

/** Signs up a person, to whom the administrator gives a role. */
export async function signUpAs(
  server: TestServer,
  administrator: Person,
  name: string,
  role: 'admin' | 'user',
): Promise<Person> {
  const person = await signUp(server, name);
  await server.call(`POST /users/${person.id}/update`, { token: administrator.token, body: { role } });
  // A new role ends the sessions of the old role.
  return signIn(server, person);
}

/** Signs up the first people of a server by their names: an administrator, and users. */
export async function signUpAll<const Names extends readonly [string, ...string[]]>(
  server: TestServer,
  ...[first, ...others]: Names
): Promise<{ [At in keyof Names]: Person }> {
  const people = [await signUp(server, first)] as [Person, ...Person[]];
  for (const name of others) people.push(await signUpAs(server, people[0], name, 'user'));
  return people as { [At in keyof Names]: Person };
}

/** The session id in a token. */
export const sessionOf = ({ token }: Pick<Person, 'token'>): string => claimsOf(token).jti;

/** The claims of a token. */
export const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Signs in again after sessions were ended. */
export async function signIn(server: TestServer, person: Person, password = PASSWORD): Promise<Person> {
  const { status, body } = await server.call('POST /auths/signin', {
    body: { email: person.email, password },
  });
  if (status !== 200) throw new Error(`Sign-in answered ${status}: ${JSON.stringify(body)}`);
  return { ...person, token: body.token };
}
