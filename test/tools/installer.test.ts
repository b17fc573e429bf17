import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openPackages, type Packages } from '../../src/python/packages.ts';
import { sharedEnvironment } from '../support/python.ts';
import { offerWheels, type Wheels } from './wheels.ts';

/** A source package whose build leaves a mark behind. */
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

let wheels: Wheels;
let packages: Packages;
let source: string;
let mark: string;
beforeAll(async () => {
  wheels = await offerWheels([['greeter', '1.0', 'hello', []]]);
  source = join(wheels.folder, 'source');
  mark = join(wheels.folder, 'was-built');
  await writeSource(source, mark);
  const python = join(await sharedEnvironment(), 'bin', 'python');
  const log = { info() {}, warn() {} };
  packages = openPackages({
    folder: join(wheels.folder, 'sets'),
    base: async () => ({ python, mark: '' }),
    log,
  });
});
afterAll(async () => {
  await packages.close();
  await wheels.close();
});

const isThere = (path: string) => access(path).then(() => true, () => false); // biome-ignore format: one look
const fails = async (requirement: string, reason: string) => {
  expect(await packages.install([requirement])).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining(reason),
  });
  expect(await packages.find([requirement])).toBeUndefined();
  expect(await isThere(mark)).toBe(false);
};

/** What a server of another version has stored, say, which parsed them otherwise. */
describe('the installer takes nothing but names with versions,', () => {
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
  ])('%#', async (requirement) => {
    await fails(requirement(), 'is not the name of a package');
  });
});

describe('pip', () => {
  it('builds nothing that a package names by its address', async () => {
    await wheels.add([['puller', '1.0', 'x', [`evil @ file://${source}`]]]);
    await fails('puller', 'only wheels are installed');
  });

  it('finds no file under the name of a requirement', async () => {
    await fails('greeter==1.0+a.zip', 'No such file');
  });

  it('writes nowhere but in the folder of the set', async () => {
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
