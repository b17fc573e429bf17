import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPackages } from '../../src/python/packages/packages.ts';
import { until } from '../support/poll.ts';
import { sharedEnvironment } from '../support/python.ts';
import { offerWheels, openIndex, type Package, type Wheels } from './wheels.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

const PACKAGES: Package[] = [
  ['greeter', '1.0', 'hello', []],
  ['greeter', '2.0', 'good day', []],
  ['polite', '1.0', 'please', ['greeter<2']],
  ['httpx', '0.1', 'old', []],
  ['oldmodel', '1.0', 'old', ['pydantic<2']],
];

let shop: Workshop;
let wheels: Wheels;
beforeAll(async () => {
  wheels = await offerWheels(PACKAGES);
  await writeFile(join(wheels.folder, 'sourceonly-1.0.tar.gz'), 'no wheel');
  vi.stubEnv('SECRET_KEY', 'must-not-reach-pip');
  shop = await openWorkshop({});
});
beforeEach(() => allow(true));
afterAll(async () => {
  await shop.close();
  await wheels.close();
});

const allow = (isAllowed: boolean) =>
  shop.configure(({ tools }) => {
    tools.install_requirements = isAllowed;
  });

const source = (requirements: string, body: string) =>
  `"""\ntitle: T\nrequirements: ${requirements}\n"""\n${body}`;
const says = (name: string, requirements = name) =>
  source(requirements, `import ${name}\nclass Tools:\n    def f(self): return ${name}.say()\n`);
const call = (id: string) => shop.as(shop.reader, 'POST', `${id}/call`, { function: 'f' });
const state = async (id: string) => (await shop.as(shop.author, 'GET', `${id}/install`)).body;
const settled = async (id: string) => {
  // Until the installation begins, the state is `absent`.
  return until('the installation to end', async () => {
    const found = await state(id);
    return !['absent', 'installing'].includes(found.state) && found;
  });
};

describe('the requirements of a tool', () => {
  it('need no installation when the environment meets them', async () => {
    const met = source(
      'requests, pydantic>=2, BS4, asyncio, nothing; python_version < "3"',
      'class Tools: pass\n',
    );
    expect(await shop.create('met', met)).toMatchObject({ status: 200 });
    expect(await state('met')).toMatchObject({ state: 'none', requirements: [], log: '' });
  });

  it('are installed after the response, and calls answer 409 until then', async () => {
    const index = await openIndex(wheels.folder);
    onTestFinished(() => {
      index.close();
      vi.stubEnv('PIP_FIND_LINKS', wheels.folder);
    });
    index.shut();
    const created = await shop.create('polite', says('polite'));
    expect(created).toMatchObject({ status: 200, body: { specs: [] } });
    expect(await call('polite')).toMatchObject({ status: 409, body: { code: 'tool_not_ready' } });
    index.open();
    expect(await settled('polite')).toMatchObject({ state: 'ready', requirements: ['polite'] });
    await until('the specification', async () => {
      const { body } = await shop.as(shop.reader, 'GET', 'polite');
      return body.specs.length === 1;
    });
    expect(await call('polite')).toMatchObject({ status: 200, body: { result: 'please' } });
    const { log } = await state('polite');
    expect(log).toContain('Successfully installed greeter-1.0 polite-1.0');
    expect(log).not.toContain('must-not-reach-pip');
  });

  it('are installed once for all tools with equal requirements in any form', async () => {
    const ids = ['one', 'two', 'three', 'four'];
    const forms = [
      'greeter >= 2, polite2; python_version < "3"',
      'greeter>=2',
      'Greeter>=2',
      ' greeter>=2 ,',
    ];
    const made = await Promise.all(ids.map((id, n) => shop.create(id, says('greeter', forms[n]))));
    for (const answer of made) expect(answer).toMatchObject({ status: 200 });
    for (const id of ids) {
      expect(await settled(id)).toMatchObject({ requirements: ['greeter>=2'] });
      expect((await call(id)).body).toMatchObject({ result: 'good day' });
    }
  });

  it('are installed once for several processes of a machine', async () => {
    const folder = join(wheels.folder, 'sets');
    const python = join(await sharedEnvironment(), 'bin', 'python');
    const log = { info() {}, warn() {} };
    const open = () => openPackages({ folder, base: async () => ({ python, mark: '' }), log });
    const processes = [open(), open(), open()];
    // A process that did not wait for the first one could not put its set in the same place.
    const outcomes = await Promise.all(processes.map((one) => one.install(['greeter<2'])));
    expect(outcomes.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready']);
    const found = await Promise.all(processes.map((one) => one.find(['greeter<2'])));
    expect(new Set(found).size).toBe(1);
    await Promise.all(processes.map((one) => one.close()));
  });

  it('replace packages of the environment for that tool only', async () => {
    await shop.create('old_httpx', says('httpx', 'httpx==0.1'));
    expect(await settled('old_httpx')).toMatchObject({ state: 'ready' });
    expect((await call('old_httpx')).body).toMatchObject({ result: 'old' });
    await shop.create('new_httpx', 'import httpx\nclass Tools:\n    def f(self): return httpx.__version__\n');
    expect((await call('new_httpx')).body.result).toMatch(/^0\.2/);
  });

  it('with another version of one package keep the other packages loaded', async () => {
    const body = `import sys
held = sorted({"aiohttp", "fastapi", "httpx", "requests"} & set(sys.modules))
import httpx
class Tools:
    def f(self): return [held, httpx.say()]
`;
    await shop.create('beside_httpx', source('httpx==0.1', body));
    expect(await settled('beside_httpx')).toMatchObject({ state: 'ready' });
    expect((await call('beside_httpx')).body.result).toEqual([['aiohttp', 'fastapi', 'requests'], 'old']);
  });

  it('that are installed and known for a source with the same imports need one process', async () => {
    const numbered = (mark: number) =>
      source(
        'greeter>=2',
        `import os, greeter\nclass Tools:\n    def f(self): return int(os.path.basename(os.getcwd())) + ${mark} * 0\n`,
      );
    await shop.create('known_0', numbered(0));
    await settled('known_0');
    const numbers: number[] = [];
    for (const mark of [1, 2, 3, 4]) {
      const { body } = await shop.create(`known_${mark}`, numbered(mark));
      expect(body.specs).toHaveLength(1);
      numbers.push((await call(`known_${mark}`)).body.result);
    }
    // Two processes for each would never give the next number; on a busy machine, a call may take another one.
    const steps = numbers.slice(1).map((number, index) => number - (numbers[index] ?? 0));
    expect(Math.min(...steps)).toBe(1);
    const { body } = await shop.create('known_not', numbered(5).replace('greeter>=2', 'requests'));
    expect((await state('known_not')).requirements, body.warnings).toEqual(['greeter']);
  });

  it.each([
    ['nosuchpackage', 'No matching distribution found for nosuchpackage'],
    ['sourceonly', 'No matching distribution found for sourceonly'],
    ['oldmodel', 'have conflicting dependencies. This server has pydantic=='],
  ])('fail with the reason of the installer: %s', async (name, reason) => {
    await shop.create(name, says(name));
    const failed = await settled(name);
    expect(failed).toMatchObject({ state: 'failed', detail: expect.stringContaining(reason) });
    expect(await call(name)).toMatchObject({
      status: 409,
      body: { code: 'tool_not_ready', detail: expect.stringContaining(reason) },
    });
  });

  it('that failed are installed again on request', async () => {
    await shop.create('late', says('latecomer'));
    expect(await settled('late')).toMatchObject({ state: 'failed' });
    await wheels.add([['latecomer', '1.0', 'here', []]]);
    expect((await shop.as(shop.reader, 'POST', 'late/install')).status).toBe(401);
    const again = await shop.as(shop.author, 'POST', 'late/install');
    expect(again).toMatchObject({ status: 200, body: { state: 'installing', requirements: ['latecomer'] } });
    expect(await settled('late')).toMatchObject({ state: 'ready' });
    expect((await call('late')).body).toMatchObject({ result: 'here' });
    expect((await shop.as(shop.author, 'POST', 'late/install')).body).toMatchObject({ state: 'ready' });
    // The audit log records the request of an administrator, not that of the owner.
    const installs = async () =>
      (await shop.server.call('GET /audit?target=tool:late&action=tool.install', { token: shop.admin.token }))
        .body.entries;
    expect(await installs()).toEqual([]);
    expect((await shop.as(shop.admin, 'POST', 'late/install')).status).toBe(200);
    expect(await installs()).toMatchObject([
      { actor_id: shop.admin.id, after: { requirements: ['latecomer'] } },
    ]);
    await rm(join(wheels.folder, 'latecomer-1.0-py3-none-any.whl'));
  });

  it('report the error of a source that does not load with them', async () => {
    await shop.create('broken', source('greeter>=0.1', 'raise ValueError("no luck")\n'));
    await until('the reason', async () => (await state('broken')).state === 'failed');
    expect((await state('broken')).detail).toContain('no luck');
    const answer = await call('broken');
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('no luck') } });
  });

  it('whose installation was interrupted are installed again by the next call', async () => {
    await shop.create('cut', says('greeter', 'greeter>=0.1'));
    await settled('cut');
    const { packages } = shop.python;
    const folder = (await packages.find((await state('cut')).requirements)) ?? '';
    await rename(folder, join(folder, '../draft'));
    await writeFile(join(folder, '../draft/greeter/__init__.py'), 'half a pack');
    await writeFile(join(folder, '../state.json'), '{"state": "installing", "detail": "…"}');
    expect(await call('cut')).toMatchObject({ status: 409 });
    // While the process of the first job ends, a call starts nothing; the call after that starts the
    // installation.
    await until('the tool to work again', async () => (await call('cut')).status === 200);
    expect(await state('cut')).toMatchObject({ state: 'ready' });
    expect((await call('cut')).body).toMatchObject({ result: 'good day' });
  });
});

async function isRefused(requirement: string, words: string): Promise<void> {
  const answer = await shop.create('refused', says('greeter', requirement));
  expect(answer).toMatchObject({ status: 400, body: { code: 'tool_invalid' } });
  expect(answer.body.detail).toContain(words);
  expect((await shop.as(shop.author, 'GET', 'refused')).status).toBe(404);
}

describe('refuses a requirement before anything is stored:', () => {
  it.each([
    'greeter @ https://evil.example/greeter.whl',
    'greeter @ file:///etc',
    'git+https://evil.example/x.git',
    './greeter',
    'greeter; import os',
    'greeter; python_version ~= "x"',
    'greeter; nothing == "x"',
    'greeter===2.0',
    'greeter===/../../tmp',
    'greeter>=1,===/../../tmp',
    'greeter[x] (=== ../tmp)',
    'greeter[/tmp]',
    '$(touch x)',
  ])('%s', (requirement) => isRefused(requirement, 'The requirement '));

  it.each([
    ['too many', Array.from({ length: 51 }, (_, n) => `p${n}`).join(','), 'at most 50'],
    ['too long', `greeter${',<9'.repeat(3_000)}`, 'at most 8192'],
    ['nested', `greeter; ${'('.repeat(3_000)}os_name == "x"${')'.repeat(3_000)}`, 'PEP 508'],
  ])('%s', (_name, requirement, words) => isRefused(requirement, words));
});

describe('leaves a requirement out with a warning:', () => {
  it.each([
    ['--index-url https://evil.example/simple, greeter>=2', "'--index-url https://evil.example/simple'"],
    ['--upgrade greeter>=2', "'--upgrade'"],
    ['greeter>=2 --pre --extra-index-url=https://evil.example/simple', "'--pre --extra-index-url=https"],
    ['-r /etc/passwd, greeter>=2', "'-r /etc/passwd'"],
  ])('options of pip: %s', async (requirement, words) => {
    const answer = await shop.create('optional', source(requirement, 'class Tools: pass\n'));
    expect([answer.status, answer.body.warnings]).toEqual([200, [expect.stringContaining(words)]]);
    expect((await state('optional')).requirements).toEqual(['greeter>=2']);
    await shop.as(shop.author, 'DELETE', 'optional/delete');
  });

  it.each(['httpx requests', 'git+https://evil.example/x.git', 'requests===2', '[requests]'])(
    'a malformed requirement, when all imports resolve: %s',
    async (requirement) => {
      const content = source(requirement, 'import requests\nclass Tools: pass\n');
      const { status, body } = await shop.create('malformed', content);
      expect([status, body.warnings]).toEqual([200, [expect.stringContaining(requirement)]]);
      expect((await state('malformed')).state).toBe('none');
      await shop.as(shop.author, 'DELETE', 'malformed/delete');
    },
  );
});

describe('a missing import that no requirement names is installed and reported', () => {
  const imports = (lines: string, requirements = '') =>
    source(requirements, `${lines}\nclass Tools:\n    def f(self): return unasked.say()\n`);

  it('by the name of the module', async () => {
    await wheels.add([['unasked', '1.0', 'found', []]]);
    const { status, body } = await shop.create('implied', imports('import unasked'));
    const warnings = ['The source imports unasked without a requirement; implied: unasked.'];
    expect([status, body.warnings]).toEqual([200, warnings]);
    expect(await settled('implied')).toMatchObject({ state: 'ready', requirements: ['unasked'] });
    expect((await call('implied')).body).toMatchObject({ result: 'found' });
  });

  it('by the name of its package on the index', async () => {
    const lines = 'import yaml\nfrom sklearn.svm import SVC\nimport cv2, google.genai\nimport google.unknown';
    const { body } = await shop.create('other_names', imports(lines));
    expect(body.warnings).toEqual([expect.stringContaining('imports yaml, sklearn.svm, cv2, google.genai')]);
    const requirements = ['google-genai', 'opencv-python-headless', 'pyyaml', 'scikit-learn'];
    expect(await settled('other_names')).toMatchObject({ state: 'failed', requirements });
  });

  it('after the named packages are installed, since these may provide the module', async () => {
    const content = imports('import polite, greeter, unasked', 'polite>=0.9');
    const { body } = await shop.create('in_turn', content);
    expect(body.warnings).toBeUndefined();
    await until('the tool to work', async () => (await call('in_turn')).status === 200);
    expect(await state('in_turn')).toMatchObject({
      state: 'ready',
      requirements: ['polite>=0.9', 'unasked'],
    });
    expect((await call('in_turn')).body).toMatchObject({ result: 'found' });
  });

  it('except imports within functions and imports that the source handles', async () => {
    const lines = 'try:\n    import unseen\nexcept ImportError: pass\nif False:\n    import unseen';
    const body = 'class Tools:\n    def f(self):\n        import unseen\n';
    const answer = await shop.create('optional_import', source('', `${lines}\n${body}`));
    expect([answer.status, answer.body.warnings]).toEqual([200, [expect.stringContaining('unseen')]]);
    expect(await state('optional_import')).toMatchObject({ state: 'none' });
  });
});

describe('where tools.install_requirements is off', () => {
  beforeEach(() => allow(false));

  it('refuses a tool that needs packages, with their names', async () => {
    const answer = await shop.create('denied', says('snowman'));
    expect(answer).toMatchObject({ status: 400, body: { code: 'tool_invalid' } });
    expect(answer.body.detail).toContain('asks for snowman, and this server installs no packages');
  });

  it('starts no installation when another setting changes', async () => {
    const content = says('nosuchpackage');
    const renamed = { name: 'New name', content, meta: {} };
    expect((await shop.as(shop.author, 'POST', 'nosuchpackage/update', renamed)).status).toBe(200);
    expect(await state('nosuchpackage')).toMatchObject({ state: 'failed' });
  });

  it('stores a tool that runs without its packages, which may be installed later', async () => {
    const lazy = source(
      'greeter<2',
      'class Tools:\n    def f(self):\n        import greeter; return greeter.say()\n',
    );
    const { body: stored } = await shop.create('lazy', lazy);
    expect(stored).toMatchObject({ specs: [{}], warnings: [expect.stringContaining('greeter<2')] });
    expect(await call('lazy')).toMatchObject({ status: 422 });
    const denied = await shop.as(shop.author, 'POST', 'lazy/install');
    expect(denied).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    await allow(true);
    await shop.as(shop.author, 'POST', 'lazy/install');
    await settled('lazy');
    expect((await call('lazy')).body).toMatchObject({ result: 'hello' });
  });
});

it('shows the state only to callers with write access', async () => {
  for (const [method, person] of [
    ['GET', null],
    ['GET', shop.reader],
    ['GET', shop.stranger],
    ['POST', null],
    ['POST', shop.reader],
  ] as const) {
    expect((await shop.as(person, method, 'met/install')).status).toBe(401);
  }
  expect((await shop.as(shop.writer, 'GET', 'met/install')).status).toBe(200);
  expect((await shop.as(shop.author, 'GET', 'nothing/install')).status).toBe(404);
});
