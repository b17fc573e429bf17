import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import {
  PASSWORD,
  type Person,
  signIn,
  signUp,
  signUpAs,
  startServer,
  type TestServer,
} from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';
import { run, start } from './run.ts';

let folder: string;
let database: TestDatabase;
let server: TestServer;
let env: Record<string, string>;
let root: Person;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  database = await createDatabase();
  const secret = { SECRET_KEY: 'c'.repeat(40) };
  server = await startServer({ database, env: { ...secret, LOG_LEVEL: 'silent' } });
  env = { ...secret, DATABASE_URL: database.url, DATA_DIR: folder };
  root = await signUp(server, 'Root');
});
afterAll(async () => {
  await server.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const exported = async () => (await server.call('GET /configs/export', { token: root.token })).body;

describe('config', () => {
  it('export prints the export of the server, with masked secrets by default', async () => {
    const configuration = await exported();
    configuration.hosted_model_api.api_base_urls = ['https://one.example.com'];
    configuration.hosted_model_api.api_keys = ['sk-hidden'];
    await server.call('POST /configs/import', { token: root.token, body: configuration });
    const plain = await run(['config', 'export'], env);
    expect([plain.code, plain.stderr]).toEqual([0, '']);
    expect(JSON.parse(plain.stdout)).toEqual(await exported());
    expect(plain.stdout).not.toContain('sk-hidden');
    const clear = await run(['config', 'export', '--secrets'], env);
    expect(JSON.parse(clear.stdout).hosted_model_api.api_keys).toEqual(['sk-hidden']);
  });

  it('import takes effect on a running server within a second, and appears in its history', async () => {
    const configuration = await exported();
    configuration.ui.watermark = 'by a command';
    const file = join(folder, 'configuration.json');
    await writeFile(file, JSON.stringify(configuration));
    expect(await run(['config', 'import', file], env)).toMatchObject({ code: 0, stdout: '' });
    await until('the import', async () => (await exported()).ui.watermark === 'by a command');
    const { body } = await server.call('GET /configs/history', { token: root.token });
    expect(body[0]).toMatchObject({ origin: 'command', changed: ['ui.watermark'], created_by: null });
    configuration.ui.watermark = 'from standard input';
    expect((await run(['config', 'import'], env, JSON.stringify({ config: configuration }))).code).toBe(0);
    await until('the import', async () => (await exported()).ui.watermark === 'from standard input');
    const clear = await run(['config', 'export', '--secrets'], env);
    expect(JSON.parse(clear.stdout).hosted_model_api.api_keys).toEqual(['sk-hidden']);
  });

  it('import prints its changes, and the settings that are unknown here', async () => {
    const configuration = await exported();
    const importing = () => run(['config', 'import'], env, JSON.stringify(configuration));
    expect((await importing()).stderr).toMatch(
      /^The configuration is in force, as revision \d+\. It is as it was\.\n$/,
    );
    configuration.ui.watermark = 'told';
    configuration.ui.enable_sign_up = false;
    expect((await importing()).stderr.split('\n').slice(1)).toEqual([
      '  ui.watermark',
      '  ui.enable_sign_up  (not known here, kept)',
      '',
    ]);
    await until('the import', async () => 'enable_sign_up' in (await exported()).ui);
  });

  it.each<[string, string[], string, Record<string, string>, string]>([
    ['malformed JSON', [], '{', {}, 'cannot be read'],
    ['a list', [], '[]', {}, 'it is no JSON object'],
    ['a part of it', [], '{"version":1}', {}, 'ui: '],
    ['a missing file', ['/nonexistent.json'], '', {}, 'ENOENT'],
    ['a newer version', [], '{"version":99}', {}, 'Update the server first'],
    [
      'a pinned setting',
      ['--fill=defaults'],
      '{"ui":{"watermark":"x"}}',
      { RESPONSE_WATERMARK: 'pinned' },
      'RESPONSE_WATERMARK',
    ],
  ])('import of %s is refused in one line and changes nothing', async (_what, words, input, more, reason) => {
    const before = await exported();
    const { code, stdout, stderr } = await run(['config', 'import', ...words], { ...env, ...more }, input);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(await exported()).toEqual(before);
  });

  it('explain prints the source of each value', async () => {
    const { stdout } = await run(['config', 'explain', 'ui.default_locale', 'auth.api_key'], {
      ...env,
      API_KEYS_ALLOWED_ENDPOINTS: '/api/v1/tools',
    });
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^ui\.default_locale = "" {2}\(stored; used by clients: /),
      expect.stringMatching(/^auth\.api_key\.endpoint_restrictions = false {2}\(stored; /),
      expect.stringMatching(
        /^auth\.api_key\.allowed_endpoints = .* \(pinned by API_KEYS_ALLOWED_ENDPOINTS; /,
      ),
    ]);
    const json = await run(['config', 'explain', 'ui.watermark', '--json'], env);
    expect(JSON.parse(json.stdout)).toMatchObject([{ path: 'ui.watermark', source: 'stored' }]);
    expect(await run(['config', 'explain', 'nothing'], env)).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('user', () => {
  it('create makes an account that can sign in', async () => {
    const words = ['user', 'create', '--email=Shell@Example.com', '--name=Shell', '--role=admin'];
    const { code, stdout } = await run(words, env, `${PASSWORD}\n`);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('shell@example.com has an account, as admin'),
    ]);
    const person = await signIn(server, { id: '', email: 'shell@example.com', token: '' });
    expect((await server.call('GET /users', { token: person.token })).status).toBe(200);
    expect(await run(words, env, PASSWORD)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already'),
    });
    for (const command of [
      [...words.slice(0, 2), '--email=new@example.com', '--name=New'],
      ['user', 'password', root.email],
    ]) {
      const weak = await run(command, env, 'password1');
      expect(weak).toMatchObject({ code: 1, stderr: expect.stringContaining('A password needs') });
    }
  });

  it.each([
    [['user', 'create', '--name=X'], "required option '--email <email>' not specified"],
    [
      ['user', 'create', '--email=x@example.com', '--name='],
      "'--name <name>' argument '' is invalid. It must not be empty.",
    ],
    [
      ['user', 'create', '--email=x@example.com', '--name=X', '--role=root'],
      'Allowed choices are admin, user, pending.',
    ],
    [
      ['user', 'create', '--email=x@example.com', '--name=X', '--password=y'],
      "unknown option '--password=y'",
    ],
    [['user', 'role', 'x@example.com', 'admin', 'more'], 'too many arguments'],
    [['backup'], "missing required argument 'file'"],
    [['config', 'exports'], "unknown command 'exports'\n(Did you mean export?)"],
    [['usr', 'list'], "unknown command 'usr'\n(Did you mean user?)"],
    [[], 'Usage'],
  ])('%j is refused with its correct usage', async (words, reason) => {
    const { code, stdout, stderr } = await run(words, env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
    expect(stderr).toContain('Usage: npm run parley');
  });

  it('a refused password is named as the reason', async () => {
    const words = ['user', 'create', '--email=x@example.com', '--name=X'];
    expect(await run(words, env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The password must /),
    });
  });

  it.each([
    [['--help'], ['config', 'user', 'backup', 'restore', 'secret']],
    [
      ['config', '-h'],
      ['export', 'import', 'explain'],
    ],
    [
      ['user', 'create', '--help'],
      ['--email <email>', '--name <name>', '--role <role>', 'default: "user"'],
    ],
  ])('%j prints its help without a database', async (words, shown) => {
    const { code, stdout, stderr } = await run(words, { DATABASE_URL: 'postgres://nowhere.invalid/x' });
    expect([code, stderr]).toEqual([0, '']);
    for (const part of shown) expect(stdout).toContain(part);
  });

  it('--version prints the version', async () => {
    expect(await run(['--version'], env)).toEqual({ code: 0, stdout: `${project.version}\n`, stderr: '' });
  });

  it('list prints every account, for people or as JSON', async () => {
    const table = await run(['user', 'list', '--role=admin'], env);
    expect(table.stdout).toMatch(/^admin +root@example.com {2}Root {2}\(last active \d{4}-/);
    const { stdout } = await run(['user', 'list', '--json'], env);
    const listed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(listed[0]).toMatchObject({ id: root.id, email: root.email, role: 'admin' });
    expect(listed[0]).not.toHaveProperty('password_hash');
  });

  it('delete removes an account and its sessions, and passes shared resources to the heir', async () => {
    const person = await signUpAs(server, root, 'Leaver', 'user');
    const { body: channel } = await server.as(root)('POST /channels/create', { name: 'stays' });
    await database.query('update channel set user_id = $1 where id = $2', [person.id, channel.id]);
    const words = ['user', 'delete', person.email];
    expect(await run([...words, `--heir=${person.email}`], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no administrator'),
    });
    expect((await run([...words, `--heir=${root.email}`], env)).code).toBe(0);
    await until('the token to be refused', async () => {
      return (await server.call('GET /auths', { token: person.token })).status === 401;
    });
    expect((await server.as(root)(`GET /channels/${channel.id}`)).body.user_id).toBe(root.id);
    const { body: log } = await server.as(root)('GET /audit');
    expect(log.entries[0]).toMatchObject({
      action: 'user.delete',
      target_id: person.id,
      actor_id: root.id,
      credential: 'command',
    });
  });

  it('password ends the sessions of the account on a running server, with their sockets', async () => {
    const person = await signUpAs(server, root, 'Forgetful', 'user');
    const socket = await listenBySocketIo(server.url, person.token);
    expect((await run(['user', 'password', 'FORGETFUL@example.com'], env, 'another password')).code).toBe(0);
    await until('the token to be refused', async () => {
      return (await server.call('GET /auths', { token: person.token })).status === 401;
    });
    await until('the socket to close', () => socket.ended !== undefined);
    await signIn(server, person, 'another password');
    await expect(signIn(server, person)).rejects.toThrow('400');
  });

  it('role changes the role and ends the sessions of another role, but keeps one administrator', async () => {
    const person = await signUpAs(server, root, 'Riser', 'user');
    expect((await run(['user', 'role', person.email, 'admin'], env)).code).toBe(0);
    const risen = await signIn(server, person);
    expect((await server.call('GET /users', { token: risen.token })).status).toBe(200);
    const same = await run(['user', 'role', person.email, 'admin'], env);
    expect([same.code, same.stdout]).toEqual([0, `${person.email} is admin now.\n`]);
    expect((await server.call('GET /auths', { token: risen.token })).status).toBe(200);
    await run(['user', 'role', person.email, 'user'], env);
    await run(['user', 'role', 'shell@example.com', 'pending'], env);
    const last = await run(['user', 'role', root.email, 'user'], env);
    expect(last).toMatchObject({ code: 1, stderr: expect.stringContaining('only administrator') });
    const nobody = await run(['user', 'role', 'nobody@example.com', 'admin'], env);
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no account with') });
    expect((await server.call('GET /auths', { token: root.token })).body.role).toBe('admin');
  });
});

describe('the program', () => {
  it.each<[number, string[], RegExp, RegExp]>([
    [0, ['user', 'password', 'root@example.com'], /^root@example\.com has a new password/, /^$/],
    [1, ['user', 'role', 'nobody@example.com', 'admin'], /^$/, /^There is no account with[^\n]*\n$/],
    [2, ['usr', 'list'], /^$/, /Did you mean user/],
  ])(
    'reads its input, ends with code %i, and writes results and errors apart',
    async (code, words, out, err) => {
      const child = start(words, env);
      child.stdin.on('error', () => {});
      child.stdin.end(PASSWORD);
      const [stdout, stderr] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      expect([child.exitCode, stdout, stderr]).toEqual([
        code,
        expect.stringMatching(out),
        expect.stringMatching(err),
      ]);
    },
  );

  it('ends without an error when the reader of its result stops early', async () => {
    const child = start(['config', 'export'], env);
    child.stdout.destroy();
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect([child.exitCode, stderr]).toEqual([0, '']);
  });
});

describe('migrate', () => {
  it('names the changes of the tables, then makes them', async () => {
    const empty = await createDatabase({ empty: true });
    const at = { ...env, DATABASE_URL: empty.url };
    const { stdout } = await run(['migrate', '--plan'], at);
    const planned = stdout.trim().split('\n');
    expect(planned[0]).toBe('Migration20261121041803');
    expect((await run(['migrate'], at)).stdout).toBe(
      `The tables are up to date (${planned.length} changes).\n`,
    );
    expect(await run(['migrate', '--plan'], at)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await run(['user', 'list'], at)).code).toBe(0);
    await empty.drop();
  });
});

describe('any command', () => {
  it('reports an unreachable database in one line', async () => {
    const url = new URL(database.url);
    url.pathname = '/not_there';
    const { code, stderr } = await run(['config', 'export'], { ...env, DATABASE_URL: url.href });
    expect([code, stderr.trim().split('\n').length]).toEqual([1, 1]);
    expect(stderr).toContain('Cannot use the database');
  });

  it('leaves tables of an older version to the server', async () => {
    const [row] = await database.query<{ id: number }>(
      'delete from mikro_orm_migrations where id = (select max(id) from mikro_orm_migrations) returning *',
    );
    const { code, stderr } = await run(['config', 'export'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Start the server once')]);
    await database.query(
      'insert into mikro_orm_migrations select * from json_populate_record(null::mikro_orm_migrations, $1)',
      [row],
    );
  });
});
