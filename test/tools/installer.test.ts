import { execFile } from 'node:child_process';
import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPackages, type Packages } from '../../src/python/packages/packages.ts';
import { startTarget } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import { sharedEnvironment } from '../support/python.ts';
import { offerWheels, openIndex, type Wheels } from './wheels.ts';

/** A source package whose build creates a marker file. */
async function writeSource(folder: string, mark: string): Promise<void> {
  const backend = `def _run(*_): open(${JSON.stringify(mark)}, "w").close(); raise SystemExit(1)
get_requires_for_build_wheel = prepare_metadata_for_build_wheel = build_wheel = _run
`;
  const project =
    '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n[project]\nname = "evil"\nversion = "1.0"\n';
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'pyproject.toml'), project);
  await writeFile(join(folder, 'evil.py'), backend);
}

const INSTALLER = join(import.meta.dirname, '../../src/python/host/installer/install.py');

let wheels: Wheels;
let packages: Packages;
let python: string;
let source: string;
let mark: string;
beforeAll(async () => {
  wheels = await offerWheels([['greeter', '1.0', 'hello', []]]);
  source = join(wheels.folder, 'source');
  mark = join(wheels.folder, 'was-built');
  await writeSource(source, mark);
  python = join(await sharedEnvironment(), 'bin', 'python');
  packages = open('sets');
});
afterAll(async () => {
  await packages.close();
  await wheels.close();
});

/** Opens sets of packages in a folder of their own. */
const open = (name: string, maxBytes?: number) => {
  const log = { info() {}, warn() {} };
  const folder = join(wheels.folder, name);
  return openPackages({ folder, base: async () => ({ python, mark: '' }), log, maxBytes });
};
const isThere = (path: string) => access(path).then(() => true, () => false); // biome-ignore format: one look
const fails = async (requirement: string, reason: string, among = packages) => {
  const outcome = { state: 'failed', detail: expect.stringContaining(reason) };
  expect(await among.install([requirement])).toEqual(outcome);
  expect(await among.look([requirement])).toEqual(outcome);
  expect(await among.find([requirement])).toBeUndefined();
  expect(await isThere(mark)).toBe(false);
};

/** For example, a server of another version has stored requirements that it parsed differently. */
describe('the installer accepts only names with versions, and refuses', () => {
  it.each([
    () => `greeter===${'/..'.repeat(20)}${source}`,
    () => source,
    () => './source',
    () => `greeter @ file://${source}`,
    () => 'git+https://evil.example/x.git',
    () => '--index-url=https://evil.example',
    () => '-r/etc/passwd',
    () => 'greeter --pre',
    () => 'greeter; os_name == "posix"',
    () => 'greeter\n',
    () => '',
  ])('case %#', async (requirement) => {
    await fails(requirement(), 'is not the name of a package');
  });
});

describe('pip', () => {
  it('builds no package that a dependency names by its address', async () => {
    await wheels.add([['puller', '1.0', 'x', [`evil @ file://${source}`]]]);
    await fails('puller', 'only wheels are installed');
  });

  it('reads no file by the name of a requirement', async () => {
    await fails('greeter==1.0+a.zip', 'No such file');
  });

  it('writes no credentials of the indexes to the log', async () => {
    const index = await startTarget((_request, response) => response.writeHead(404).end());
    const host = `127.0.0.1:${index.port}`;
    const addresses = [
      [`http://SECRET:@${host}/blank`, `http://****@${host}/blank`],
      [`http://SECRET:x-oauth-basic@${host}/word`, `http://****@${host}/word`],
      [`http://SECRET@${host}/name`, `http://****@${host}/name`],
      [`http://${host}/query?token=SECRET`, `http://${host}/query?****`],
    ] as const;
    const [[first], ...others] = addresses;
    vi.stubEnv('PIP_NO_INDEX', undefined);
    vi.stubEnv('PIP_INDEX_URL', first);
    vi.stubEnv('PIP_EXTRA_INDEX_URL', others.map(([address]) => address).join(' '));
    const requirement = `missing>${index.port}`;
    await fails(requirement, 'No matching distribution');
    const log = await packages.log([requirement]);
    for (const [, shown] of addresses) expect(log).toContain(shown);
    expect(log).not.toContain('SECRET');
    expect(index.heard).toHaveLength(addresses.length);
    vi.stubEnv('PIP_EXTRA_INDEX_URL', undefined);
    vi.stubEnv('PIP_INDEX_URL', undefined);
    vi.stubEnv('PIP_NO_INDEX', '1');
    await index.close();
  });

  it('writes only to the folder of the set', async () => {
    const report = join(wheels.folder, 'report.json');
    vi.stubEnv('PIP_REPORT', report);
    await fails('greeter', 'outside of its folder');
    vi.stubEnv('PIP_REPORT', undefined);
    expect(await isThere(report)).toBe(false);
    vi.stubEnv('PIP_LOG', join(wheels.folder, 'pip.log'));
    expect(await packages.install(['greeter'])).toMatchObject({ state: 'ready' });
    vi.stubEnv('PIP_LOG', undefined);
    const site = (await packages.find(['greeter'])) ?? '';
    expect((await readdir(site)).sort()).toEqual(['greeter', 'greeter-1.0.dist-info']);
    expect((await readdir(join(site, '..'))).sort()).toEqual([
      'constraints.txt',
      'lock',
      'log',
      'site',
      'state.json',
    ]);
  });
});

it('ignores a state that a power failure has emptied or spoilt', async () => {
  const spoilt = () => open('spoilt');
  expect(await spoilt().install(['greeter'])).toMatchObject({ state: 'ready' });
  const [folder = ''] = await readdir(join(wheels.folder, 'spoilt'));
  for (const text of ['', '\0'.repeat(40), '{"state": "rea', '{"state": 1}']) {
    await writeFile(join(wheels.folder, 'spoilt', folder, 'state.json'), text);
    expect(await spoilt().look(['greeter'])).toMatchObject({ state: 'ready' });
    await spoilt().sweep([['greeter']], HOUR_MS);
  }
  expect(await spoilt().install(['greeter>0.1'])).toMatchObject({ state: 'ready' });
});

it('does not wait for other file systems of the machine', async ({ skip }) => {
  if (process.platform !== 'linux') skip('only Linux can sync one file system');
  const script = `
import os, runpy, sys
os.sync = lambda: os._exit(9)
runpy.run_path(sys.argv.pop(1), run_name="__main__")`;
  const folder = join(wheels.folder, 'synced');
  const asked = JSON.stringify({ folder, requirements: ['greeter'], seconds: 60, bytes: 1024 ** 2 });
  await promisify(execFile)(python, ['-I', '-c', script, INSTALLER, asked]);
  expect(await readdir(join(folder, 'site'))).toContain('greeter');
});

const HOUR_MS = 3_600_000;
async function age(path: string, ms: number): Promise<void> {
  const then = (Date.now() - ms) / 1000;
  await utimes(path, then, then);
}

describe('the disk space for all sets', () => {
  it('limits a single set', async () => {
    await fails('greeter', 'more than the 9 bytes that are allowed', open('narrow', 9));
  });

  it('refuses new sets when it is used up, until the sweep removes unused sets earlier than usual', async () => {
    const full = () => open('full', 1024 ** 2);
    expect(await full().install(['greeter'])).toMatchObject({ state: 'ready' });
    await fails('greeter>0.1', 'room that this server has', full());
    await age((await full().find(['greeter'])) ?? '', 7 * HOUR_MS);
    await full().sweep([['greeter']], 100 * HOUR_MS);
    await fails('greeter>0.1', 'room that this server has', full());
    await full().sweep([], 100 * HOUR_MS);
    expect(await full().install(['greeter>0.1'])).toMatchObject({ state: 'ready' });
  });

  it('keeps unused sets while there is space left, and removes failed installations after a day', async () => {
    // The sets of the test before.
    const roomy = () => open('full');
    expect(await roomy().install(['greeter>0.1'])).toMatchObject({ state: 'ready' });
    await fails('nothing', 'No matching distribution', roomy());
    const folder = join(wheels.folder, 'full');
    for (const name of await readdir(folder)) await age(join(folder, name, 'state.json'), 25 * HOUR_MS);
    await age((await roomy().find(['greeter>0.1'])) ?? '', 99 * HOUR_MS);
    await roomy().sweep([], 100 * HOUR_MS);
    expect(await roomy().look(['nothing'])).toEqual({ state: 'absent', detail: '' });
    expect(await roomy().look(['greeter>0.1'])).toMatchObject({ state: 'ready' });
  });
});

it('reports that a set waits for other installations', async () => {
  const index = await openIndex(wheels.folder);
  onTestFinished(() => index.close());
  index.shut();
  const one = open('queued');
  const first = one.install(['greeter'], 'ann');
  const second = one.install(['greeter>0.1'], 'ann');
  // Either may begin first: each is looked for on the disk before.
  await until('both to be asked for', async () => {
    const states = await Promise.all([['greeter'], ['greeter>0.1']].map((set) => one.look(set)));
    return states.some(({ state, detail }) => state === 'installing' && detail.includes('wait'));
  });
  index.open();
  expect(await Promise.all([first, second])).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
  // The queue closes before this installation begins, so no process works on it.
  index.shut();
  const last = one.install(['greeter>0.2'], 'ann');
  const never = one.install(['greeter>0.3'], 'ann');
  await until('the last to wait', async () => (await one.look(['greeter>0.3'])).state === 'installing');
  await one.close();
  expect([(await last).state, (await never).state]).toEqual(['absent', 'absent']);
});
