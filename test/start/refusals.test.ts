import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApp } from '../../src/app.ts';
import { readEnv, StartError } from '../../src/env.ts';
import { createLog } from '../../src/log.ts';
import { isRoot, NOBODY, whyNobodyCannotRun } from '../database/embedded.support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { descendantsOf, listProcesses, spawnMain } from '../support/process.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { withSecret } from '../support/server.ts';

/**
 * Every start that cannot succeed ends with one line for the operator and leaves nothing running. A process
 * prints that line on stderr and nothing on stdout, and exits with code 1.
 */
let dataDir: string;
let undo: (() => unknown)[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  undo = [];
});
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  await rm(dataDir, { recursive: true, force: true });
});

/** A port that no system assigns and no program uses. */
const NOBODYS_PORT = 1;
const STARTING = { PORT: '0', ENV: 'test', PYTHON: '/dev/null', EMBEDDED_MODEL: 'off' };
const cannotBeNobody = isRoot ? await whyNobodyCannotRun() : 'only root can be somebody else';

/** The line of a start in this process. */
async function refusal(env: Record<string, string>): Promise<string> {
  const started = startApp({
    env: readEnv({ ...STARTING, DATA_DIR: dataDir, ...env }),
    log: createLog('silent'),
    onFatal: () => {},
  });
  const line = await started.then(
    async (app) => {
      await app.close();
      throw new Error('The start succeeded.');
    },
    (error: Error) => {
      if (error instanceof StartError) return error.message;
      throw error;
    },
  );
  expect(line).toMatch(/^[^\n]+$/);
  expect((await listProcesses()).filter(({ command }) => command.includes(dataDir))).toEqual([]);
  return line;
}

/** The line of a start in a process of its own. */
async function refusalOfProcess(
  env: Record<string, string>,
  user?: { uid: number; gid: number },
): Promise<string> {
  const server = spawnMain({ DATA_DIR: dataDir, ...env }, { user, cwd: '/' });
  undo.push(() => server.child.kill('SIGKILL'));
  const { code, signal } = await server.ended();
  const { stdout, stderr } = server.output;
  expect({ code, signal, stdout }).toEqual({ code: 1, signal: null, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(await descendantsOf(server.child.pid ?? 0)).toEqual([]);
  expect((await listProcesses()).filter(({ command }) => command.includes(dataDir))).toEqual([]);
  return stderr.trim();
}

async function database(options?: { empty: boolean }): Promise<TestDatabase> {
  const made = await createDatabase(options);
  undo.push(() => made.drop());
  return made;
}

async function listening(
  onConnection?: (socket: import('node:net').Socket) => void,
): Promise<[Server, number]> {
  const server = createServer(onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => server.close());
  return [server, (server.address() as AddressInfo).port];
}

function messageOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('an invalid environment variable is named without its value:', () => {
  it.each([
    ['PORT', 'eighty', 'must be a whole number from 0 to 65535'],
    ['PORT', '70000', 'must be a whole number from 0 to 65535'],
    ['PORT', ' ', 'must be a whole number'],
    ['PORT', '0x50', 'must be a whole number'],
    ['DATABASE_URL', 'mysql://root:hunter2@localhost/parley', 'must begin with postgres://'],
    ['DATABASE_URL', 'postgres://user:hunter2@[half', 'must be an address such as'],
    ['REDIS_URL', 'http://:hunter2@localhost', 'must be an address such as redis://'],
    ['REDIS_URL', 'redis://:hunter2@[half', 'must be an address such as'],
    ['FILES_URL', '/var/hunter2', 'must be an address such as s3://bucket/prefix'],
    ['FILES_URL', 's3://key:hunter2@bucket', 'must not hold credentials: set AWS_ACCESS_KEY_ID'],
    ['FILES_URL', 's3:///hunter2', 'the name of a bucket'],
    ['FILES_URL', 's3://bucket/a//hunter2', 'must have a prefix'],
    ['FILES_URL', 's3://bucket/%2e%2e/hunter2%2f', 'must have a prefix'],
    [
      'FILES_URL',
      's3://bucket?endpoint=file:///hunter2',
      'may have the parameters endpoint (an http or https',
    ],
    ['FILES_URL', 's3://bucket?endpoint=http://me:hunter2@host', 'without credentials'],
    ['FILES_URL', 's3://bucket?secret=hunter2', 'may have the parameters'],
    ['SECRET_KEY', 'hunter2', 'must have at least 32 characters'],
    ['ENV', 'production', 'must be one of "dev", "prod"'],
    ['LOG_LEVEL', 'loud', 'must be one of'],
    ['CORS_ALLOW_ORIGIN', 'https://good.example, good.example', 'must be an origin'],
    ['CORS_ALLOW_ORIGIN', 'https://good.example/path', 'must be an origin'],
    ['ENABLE_WEBSOCKET_SUPPORT', 'maybe', ''],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2:4318', 'must begin with https:// or http://'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'must be http/protobuf'],
    ['OTEL_TRACES_SAMPLER', 'sometimes', 'must be one of'],
    ['OTEL_TRACES_SAMPLER_ARG', '2', 'must be a number from 0 to 1'],
  ])('%s=%s', (name, value, expected) => {
    const line = messageOf(() => readEnv({ [name]: value }));
    expect(line).toMatch(new RegExp(`^The environment variable ${name} is wrong: [^\n]+$`));
    expect(line).toContain(expected);
    expect(line).not.toContain('hunter2');
  });

  it('an address of sessions or of a replica without DATABASE_URL', () => {
    for (const name of ['DATABASE_SESSION_URL', 'DATABASE_READ_URL']) {
      const line = messageOf(() => readEnv({ [name]: 'postgres://db/parley' }));
      expect(line).toBe(`${name} is set without DATABASE_URL. Set both, or none.`);
    }
  });

  it('by a server, which then ends', async () => {
    expect(await refusalOfProcess({ SECRET_KEY: 'hunter2' })).toBe(
      messageOf(() => readEnv({ SECRET_KEY: 'hunter2' })),
    );
  });
});

describe('the port', () => {
  it('in use is named before anything is made', async () => {
    const [, port] = await listening();
    expect(await refusalOfProcess({ PORT: `${port}` })).toBe(
      `Port ${port} is in use. Stop the other program, or set PORT.`,
    );
    await expect(rm(join(dataDir, 'postgres'), { recursive: true })).rejects.toThrow('ENOENT');
  });

  it('on an address that this machine does not have is refused', async () => {
    expect(await refusal({ HOST: '192.0.2.1', PORT: '8080' })).toMatch(
      /^Cannot listen on 192\.0\.2\.1:8080 \(\w+\)/,
    );
  });
});

describe('the data folder', () => {
  it('that is a file is refused', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    expect(await refusal({ DATA_DIR: file })).toContain(`The data folder ${file} cannot be used`);
  });

  it.skipIf(cannotBeNobody)('that is not writable for an ordinary user is refused', async () => {
    await chmod(dataDir, 0o755);
    const inner = join(dataDir, 'inner');
    expect(await refusalOfProcess({ DATA_DIR: inner }, NOBODY)).toMatch(
      /^The data folder .*inner cannot be used \(.*permission denied.*\)\. Make it writable or set DATA_DIR\.$/,
    );
    await mkdir(inner, { mode: 0o555 });
    expect(await refusalOfProcess({ DATA_DIR: inner }, NOBODY)).toContain(
      'Make it writable or set DATA_DIR.',
    );
  });
});

describe('DATABASE_URL', () => {
  it('without a server is refused, without showing the password', async () => {
    const line = await refusal({
      DATABASE_URL: `postgres://parley:hunter2@127.0.0.1:${NOBODYS_PORT}/parley`,
    });
    expect(line).toContain(`Cannot use the database of DATABASE_URL at 127.0.0.1:${NOBODYS_PORT}`);
    expect(line).toContain('ECONNREFUSED');
    expect(line).not.toContain('hunter2');
  });

  it('with an unknown host is refused', async () => {
    const line = await refusal({ DATABASE_URL: 'postgres://parley:hunter2@no-such-host.invalid/parley' });
    expect(line).toMatch(/no-such-host\.invalid.*(ENOTFOUND|EAI_AGAIN)/);
  });

  it('with a missing database is refused', async () => {
    const { url } = await database();
    const line = await refusal({ DATABASE_URL: url.replace(/\/test_\w+/, '/no_such_database') });
    expect(line).toContain('database "no_such_database" does not exist');
  });

  it('of a program that is not PostgreSQL is refused', async () => {
    const [, port] = await listening((socket) =>
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n').on('error', () => {}),
    );
    const line = await refusal({ DATABASE_URL: `postgres://127.0.0.1:${port}/parley` });
    expect(line).toContain('does not answer as a PostgreSQL');
  });

  it('of a program that never answers is refused', async () => {
    const sockets: import('node:net').Socket[] = [];
    const [, port] = await listening((socket) => void sockets.push(socket.on('error', () => {})));
    undo.push(() => sockets.map((socket) => socket.destroy()));
    const line = await refusal({ DATABASE_URL: `postgres://127.0.0.1:${port}/parley` });
    expect(line).toContain('does not answer as a PostgreSQL');
  });

  it('of a PostgreSQL that is too old is refused', async () => {
    const { url, query } = await database({ empty: true });
    // There is no such server here; this one claims to be old, which is detected in the same way.
    await query('create schema old');
    await query(`create function old.current_setting(text) returns text language sql
      as $$ select case $1 when 'server_version' then '14.2' when 'server_version_num' then '140002'
        else pg_catalog.current_setting($1) end $$`);
    const line = await refusal({ DATABASE_URL: `${url}&options=-csearch_path%3Dold,pg_catalog,public` });
    expect(line).toContain('it is PostgreSQL 14.2, and 15 or newer is needed');
  });

  it('of a database of another program is refused, and the database stays unchanged', async () => {
    const { url, query } = await database({ empty: true });
    await query('create table users (id int)');
    const line = await refusal({ DATABASE_URL: url });
    expect(line).toContain('its tables cannot be brought up to date: relation "users" already exists');
    const tables = await query(
      `select tablename from pg_tables where schemaname = 'public' and tablename <> 'mikro_orm_migrations'`,
    );
    expect(tables).toEqual([{ tablename: 'users' }]);
  });

  it('of a read-only database, like a standby, is refused', async () => {
    const { url, query } = await database();
    const [row] = await query<{ name: string }>('select current_database() as name');
    await query(`alter database ${row?.name} set default_transaction_read_only = on`);
    expect(await refusal({ DATABASE_URL: url })).toContain(
      'it may only be read, as a standby is: name the one that takes writes',
    );
  });
});

describe('the secret', () => {
  it('in a damaged file is refused, since an empty one can be guessed', async () => {
    const file = join(dataDir, 'secret.key');
    await writeFile(file, '');
    expect(await refusal({})).toBe(
      `The file ${file} is damaged. Restore it from a backup, or set SECRET_KEY.`,
    );
  });

  it('that differs from the one of the database, as with another data folder, is refused', async () => {
    const made = await database();
    const { url: DATABASE_URL } = made;
    await withSecret(made, 'the secret of the first server is this', async () => {});
    const line = await refusal({ DATABASE_URL });
    expect(line).toMatch(
      /^What this database holds was sealed with another SECRET_KEY .* Put the old one back/,
    );
  });
});

describe('REDIS_URL', () => {
  it('without a server is refused, without showing the password', async () => {
    const { url: DATABASE_URL } = await database();
    const line = await refusal({ DATABASE_URL, REDIS_URL: `redis://:hunter2@127.0.0.1:${NOBODYS_PORT}` });
    expect(line).toBe('REDIS_URL cannot be used (ECONNREFUSED). Start Redis, or correct the address.');
  });

  it('of a program that never answers is refused', async () => {
    const { url: DATABASE_URL } = await database();
    const [, port] = await listening((socket) => void socket.on('error', () => {}));
    expect(await refusal({ DATABASE_URL, REDIS_URL: `redis://127.0.0.1:${port}` })).toMatch(
      /^REDIS_URL cannot be used/,
    );
  });

  it.skipIf(withoutRedis)('with a missing password is refused', async () => {
    const { url: DATABASE_URL } = await database();
    const redis = await startRedis();
    undo.push(() => redis.stop());
    await redis.ask((client) => client.config('SET', 'requirepass', 'hunter2'));
    // With the embedded database, which must end as well.
    const line = await refusalOfProcess({ REDIS_URL: redis.url });
    expect(line).toMatch(/^REDIS_URL cannot be used \(.*NOAUTH.*\)/);
    const wrong = await refusal({ DATABASE_URL, REDIS_URL: redis.url.replace('//', '//:hunter3@') });
    expect(wrong).toMatch(/^REDIS_URL cannot be used \(.*WRONGPASS.*\)/);
  });
});
