import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { moveIntoPlace } from '../../src/python/environment.ts';
import { type Python, startPython } from '../../src/python/pool.ts';
import { ANN, callTool, sharedEnvironment, toolOf } from '../support/python.ts';

const REQUIREMENTS = join(import.meta.dirname, '../../src/python/host/requirements.txt');

let dataDir: string;
let python: Python | undefined;
let lines: string[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parley-env-'));
  lines = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await python?.close();
  await rm(dataDir, { recursive: true });
});

function start(interpreter?: string, folder = dataDir): Python {
  const write = (line: string) => void lines.push(line);
  python = startPython({ dataDir: folder, interpreter, log: { info: write, warn: write } });
  return python;
}

/** The packages that the host itself needs. */
const NEEDED = [
  'annotated-types',
  'landlock',
  'packaging',
  'pydantic',
  'pydantic_core',
  'typing-inspection',
  'typing_extensions',
];
const MAKE_WHEELS = `
import sys, zipfile
from importlib import metadata
requirements, folder, *needed = sys.argv[1:]
for line in open(requirements):
    if not line[0].isalpha(): continue
    name, version = line.split(";")[0].strip().split("==")
    with zipfile.ZipFile(f"{folder}/{name.replace('-', '_')}-{version}-py3-none-any.whl", "w") as wheel:
        if name in needed:
            for file in metadata.distribution(name).files:
                if ".." not in file.parts and file.suffix != ".pyc": wheel.write(file.locate(), file)
            continue
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
`;

/**
 * Lets pip find all requirements of the environment in a folder: those that the host needs as they are, the
 * others without content. The environment that all tests share is made from the real ones.
 */
async function offerRequirements(): Promise<void> {
  const folder = join(dataDir, 'wheels');
  await mkdir(folder);
  const shared = join(await sharedEnvironment(), 'bin', 'python');
  execFileSync(shared, ['-c', MAKE_WHEELS, REQUIREMENTS, folder, ...NEEDED]);
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', folder);
}

test('makes an incomplete environment again and logs the output of pip; the next start uses it at once', async () => {
  await mkdir(join(dataDir, 'python', 'bin'), { recursive: true });
  await writeFile(join(dataDir, 'python', 'bin', 'python'), 'half', { mode: 0o755 });
  // A killed server leaves such drafts.
  for (const draft of ['python.4711.tmp', 'python.4711.tmp.old'])
    await mkdir(join(dataDir, draft, 'bin'), { recursive: true });
  await offerRequirements();
  const first = start();
  expect(first.state().state).toBe('starting');
  await expect(first.inspect({ id: 't', content: toolOf('pass') })).rejects.toMatchObject({
    code: 'python_unavailable',
    message: expect.stringContaining('being prepared'),
  });
  await first.settled;
  expect(first.state()).toMatchObject({ state: 'ready', version: expect.stringMatching(/^3\.\d+\.\d+$/) });
  expect(lines.filter((line) => !line.startsWith('Python tools run.'))).toEqual([
    expect.stringMatching(/^Making the Python environment .*python\.log\.$/),
    'The Python environment is ready.',
  ]);
  expect(await readFile(join(dataDir, 'python.log'), 'utf8')).toContain('Successfully installed');
  expect((await readdir(dataDir)).filter((name) => name.includes('.tmp'))).toEqual([]);
  await first.close();

  lines = [];
  const second = start();
  await second.settled;
  expect(second.state().state).toBe('ready');
  expect(lines.filter((line) => line.includes('Making'))).toEqual([]);
  expect((await callTool(second, toolOf('def f(self): return 1'))).result).toBe(1);
}, 300_000);

test('keeps an environment that another process made meanwhile, and replaces one of other requirements', async () => {
  const put = async (folder: string, mark: string, owner: string) => {
    await mkdir(join(dataDir, folder, 'bin'), { recursive: true });
    await writeFile(join(dataDir, folder, 'bin', 'python'), owner, { mode: 0o755 });
    await writeFile(join(dataDir, folder, 'made-from'), mark);
  };
  const place = async (draft: string, mark: string) => {
    await moveIntoPlace(join(dataDir, draft), join(dataDir, 'python'), mark);
    return readFile(join(dataDir, 'python', 'bin', 'python'), 'utf8');
  };
  await put('python', 'same', 'first');
  await put('second', 'same', 'second');
  expect(await place('second', 'same')).toBe('first');
  await put('third', 'newer', 'third');
  expect(await place('third', 'newer')).toBe('third');
  expect(await readdir(dataDir)).toEqual(['python', 'second']);
});

test('works in a folder that only root may enter', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can be in such a folder and change its user');
  // With its own path, so that the user of the tool process cannot reach the environment.
  execFileSync('cp', ['-al', await sharedEnvironment(), join(dataDir, 'python')]);
  await chmod(dataDir, 0o700);
  const here = start();
  await here.settled;
  const content = toolOf(
    'def f(self):\n    import sqlite3, pydantic.v1, zoneinfo\n    return [os.getuid() != 0, pydantic.VERSION]',
    'import os, pydantic',
  );
  const { result } = await callTool(here, content);
  expect(result).toEqual([true, expect.stringMatching(/^2\./)]);
  // Some packages read files of their own in this way, for example matplotlib its fonts.
  const own = toolOf(
    `def f(self):
    place = certifi.where()
    ways = [os.path.realpath(place), os.path.realpath(os.fsencode(place)), pathlib.Path(place, "..", "cacert.pem").resolve()]
    return [len(open(way).read()) > 0 for way in ways]`,
    'import certifi, os, pathlib',
  );
  expect((await callTool(here, own)).result).toEqual([true, true, true]);
});

test('names a missing interpreter and what to do about it', async () => {
  const none = start('/nowhere/python3');
  await none.settled;
  expect(none.state()).toMatchObject({
    state: 'unavailable',
    detail: expect.stringMatching(
      /PYTHON is set to \/nowhere\/python3, .*Correct or unset it\. It is tried again in \d+ s\./,
    ),
  });
  const tool = { id: 't', content: toolOf('pass') };
  await expect(none.call({ tool, function: 'f', arguments: {}, user: ANN })).rejects.toMatchObject({
    code: 'python_unavailable',
    status: 503,
  });
});

test('without a package index uses an interpreter that has Pydantic 2, and asks for it otherwise', async () => {
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', dataDir);
  const made = join(await sharedEnvironment(), 'bin', 'python');
  const fallback = start(made);
  await fallback.settled;
  expect(fallback.state()).toMatchObject({ state: 'ready', detail: expect.stringContaining('as it is') });
  expect((await callTool(fallback, toolOf('def f(self): return 1'))).result).toBe(1);
  await fallback.close();
  expect(lines.find((line) => line.includes('could not be made'))).toMatch(/made: .*ERROR.* Using /);

  const bare = join(dataDir, 'bare');
  execFileSync(made, ['-m', 'venv', '--without-pip', bare]);
  // A file in the way of the environment fails sooner than pip.
  const file = join(dataDir, 'file');
  await writeFile(file, '');
  const none = start(join(bare, 'bin', 'python'), file);
  await none.settled;
  expect(none.state()).toMatchObject({
    state: 'unavailable',
    detail: expect.stringMatching(/could not be made: .*file.*Mend that .*install Pydantic 2/),
  });
}, 300_000);
