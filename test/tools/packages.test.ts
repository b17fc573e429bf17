import { access, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openOrm } from '../../src/database/orm.ts';
import { openSql } from '../../src/database/sql.ts';
import { entities } from '../../src/entities.ts';
import { openPackages } from '../../src/python/packages/packages.ts';
import { sweepPackages } from '../../src/tools/install/install.sweep.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { isAlive, listProcesses, spawnMain } from '../support/process.ts';
import { linkEnvironment, sharedEnvironment } from '../support/python.ts';
import { call, PASSWORD } from '../support/server.ts';
import { type Index, offerWheels, openIndex, type Wheels } from './wheels.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

let shop: Workshop;
let wheels: Wheels;
let index: Index;
beforeAll(async () => {
  wheels = await offerWheels([['greeter', '1.0', 'hello', []]]);
  index = await openIndex(wheels.folder);
  shop = await openWorkshop({});
  await shop.configure(({ tools }) => {
    tools.install_requirements = true;
  });
});
afterEach(() => index.open());
afterAll(async () => {
  index.close();
  await shop.close();
  await wheels.close();
});

const source = (requirements: string) =>
  `"""\nrequirements: ${requirements}\n"""\nimport greeter\nclass Tools:\n    def f(self): return greeter.say()\n`;
const run = (id: string) => shop.as(shop.reader, 'POST', `${id}/call`, { function: 'f' });
const state = async (id: string) => (await shop.as(shop.author, 'GET', `${id}/install`)).body;
/** The limit for an installation on a busy machine. */
const INSTALL_MS = 100_000;
const answers = (id: string) =>
  until(`${id} to answer`, async () => (await run(id)).status === 200, INSTALL_MS);
const find = (requirement: string) => shop.python.packages.find([requirement]);
/** The folder that holds the sets of this server. */
async function folderOfSets(): Promise<string> {
  await shop.python.packages.install(['greeter>0.3']);
  return dirname(dirname((await find('greeter>0.3')) ?? ''));
}
const isThere = (path: string) => access(path).then(() => true, () => false); // biome-ignore format: one look
const installersOf = async (folder: string) =>
  (await listProcesses()).filter(({ command }) => /install/.test(command) && command.includes(folder));

const HOUR_MS = 3_600_000;
/** Sets the last use of a set to `ms` ago. */
async function age(site: string, ms: number): Promise<void> {
  const then = (Date.now() - ms) / 1000;
  await utimes(site, then, then);
}

describe('packages that no tool asks for', () => {
  const log = { info() {}, warn() {} };
  let python: string;
  let folder: string;
  beforeAll(async () => {
    folder = join(wheels.folder, 'sets');
    python = join(await sharedEnvironment(), 'bin', 'python');
  });
  /** Opens the packages as another process of this machine, which has used no set yet. */
  const others = () => openPackages({ folder, base: async () => ({ python, mark: '' }), log });

  it('are removed when they were not used for a time; other sets stay', async () => {
    const one = others();
    const sets = ['greeter', 'greeter>0.1', 'greeter>0.2'].map((requirement) => [requirement]);
    await Promise.all(sets.map((set) => one.install(set)));
    const [wanted = '', used = '', unused = ''] = await Promise.all(
      sets.map(async (set) => (await one.find(set)) ?? ''),
    );
    await age(wanted, 9 * HOUR_MS);
    await age(used, 7 * HOUR_MS);
    await age(unused, 9 * HOUR_MS);
    // The first was left by a process that was killed while it removed the set; a process is removing the
    // second.
    const left = `${dirname(unused)}.${Date.now() - 2 * HOUR_MS}.gone`;
    const going = `${dirname(unused)}.${Date.now()}.gone`;
    for (const place of [left, going]) await mkdir(join(place, 'site'), { recursive: true });
    const processes = [others(), others(), others()];
    await Promise.all(processes.map((process) => process.sweep([['greeter']], 8 * HOUR_MS)));
    const after = await Promise.all([wanted, used, unused, left, going].map(isThere));
    expect(after).toEqual([true, true, false, false, true]);
    expect(await readdir(folder)).toHaveLength(3);
  });

  it('stay when a process finds them while another removes them', async () => {
    const set = ['greeter'];
    await others().install(set);
    const site = (await others().find(set)) ?? '';
    const outcomes = new Set<boolean>();
    for (let round = 0; round < 60; round += 1) {
      await mkdir(site, { recursive: true });
      await age(site, 9 * HOUR_MS);
      // The sweep is interrupted at another moment in each round, and sometimes the set is found before or
      // after it.
      if (round % 20 === 0) await others().find(set);
      const sweeping = others().sweep([], 8 * HOUR_MS);
      for (let turn = 0; turn < round % 20; turn += 1) await new Promise(setImmediate);
      if (round % 20 === 19) await sweeping;
      const found = await others().find(set);
      await sweeping;
      outcomes.add(found !== undefined);
      expect(await isThere(site)).toBe(found !== undefined);
    }
    expect(outcomes).toEqual(new Set([true, false]));
  });

  it('are removed when neither a tool nor a call of the last days needs them', async () => {
    await shop.create('stays', source('greeter>0.3'));
    await shop.create('goes', source('greeter>0.4'));
    await Promise.all(['stays', 'goes'].map(answers));
    const [stays = '', goes = ''] = await Promise.all(['greeter>0.3', 'greeter>0.4'].map(find));
    await shop.as(shop.author, 'DELETE', 'goes/delete');
    const orm = await openOrm(entities, { url: shop.server.database.url });
    const sql = await openSql(orm);
    const sweep = () => sweepPackages(sql, shop.python);
    await sweep();
    expect(await Promise.all([stays, goes].map(isThere))).toEqual([true, true]);
    // The use of a set is noted after the response, so a call may note it late.
    await until('the one to go', async () => {
      for (const site of [stays, goes]) await age(site, 8 * 24 * HOUR_MS);
      await sweep();
      return !(await isThere(goes));
    });
    expect(await isThere(stays)).toBe(true);
    expect((await run('stays')).body.result).toBe('hello');
    await shop.create('goes', source('greeter>0.4'));
    await answers('goes');
    await orm.close(true);
  });
});

describe('installations of one author', () => {
  it('run one after the other, and do not block other authors', async () => {
    const sets = await folderOfSets();
    const installers = async () =>
      (await installersOf(sets)).filter(({ command }) => command.includes('install.py'));
    index.shut();
    const many = [1, 2].map((n) => `many_${n}`);
    for (const [n, id] of many.entries()) {
      await shop.create(id, source(`greeter>0.1${n}`));
      // Wait until the first installation has begun.
      await until('pip to ask', () => index.waiting() === 1);
    }
    // The author changes the packages of one tool to keep the server busy.
    const change = { name: 'many', meta: {}, content: source('greeter>0.25') };
    expect((await shop.as(shop.author, 'POST', 'many_2/update', change)).status).toBe(200);
    expect(await state('many_1')).toMatchObject({
      state: 'installing',
      detail: expect.stringContaining('being'),
    });
    await until('the second to wait', async () => {
      const { state: now, detail } = await state('many_2');
      return now === 'installing' && detail.includes('wait');
    });
    expect(await installers()).toHaveLength(1);
    const create = { id: 'other_author', name: 'o', meta: {}, content: source('greeter>0.15') };
    expect(
      (await shop.server.call('POST /tools/create', { token: shop.writer.token, body: create })).status,
    ).toBe(200);
    await until('the pip of the other author to ask', () => index.waiting() === 2);
    expect(await installers()).toHaveLength(2);
    index.open();
    await Promise.all(many.map(answers));
    // The set that the tool no longer requires is installed too.
    for (const n of [10, 11, 15, 25]) {
      await until(`the set ${n}`, async () => (await find(`greeter>0.${n}`)) !== undefined);
    }
  });
});

describe('an installation that is killed in the middle', () => {
  it('leaves no process and no partial set; the next call installs again', async () => {
    const sets = await folderOfSets();
    index.shut();
    await shop.create('killed', source('greeter>0.5'));
    await until('pip to ask', () => index.waiting() > 0);
    const started = await installersOf(sets);
    const [folder = ''] = started.flatMap(({ command }) => /\/[^" ]+\/[0-9a-f]{32}/.exec(command) ?? []);
    const installer = started.find(({ command }) => command.includes('install.py'));
    process.kill(installer?.pid ?? 0, 'SIGKILL');
    await until('all of it to be gone', () => !started.some(isAlive));
    expect(await isThere(join(folder, 'site'))).toBe(false);
    expect(await find('greeter>0.5')).toBeUndefined();
    // The partial files are still there; the next installation does not use them.
    const [draft = ''] = (await readdir(folder)).filter((name) => name.startsWith('draft.'));
    await mkdir(join(folder, draft, 'site', 'half'));
    await until('its server to notice', async () => (await state('killed')).state === 'absent');
    expect(await run('killed')).toMatchObject({ status: 409, body: { code: 'tool_not_ready' } });
    index.open();
    await answers('killed');
    expect((await run('killed')).body.result).toBe('hello');
    expect(await readdir(join(folder, 'site'))).not.toContain('half');
    expect((await readdir(folder)).filter((name) => name.startsWith('draft.'))).toEqual([]);
  });

  it('is recognised by an old time stamp of its state', async () => {
    await shop.create('silent', source('greeter>0.3'));
    await answers('silent');
    const site = (await find('greeter>0.3')) ?? '';
    await rm(site, { recursive: true });
    // The packages are there a moment before their installer ends.
    await until('the installer to end', async () => (await state('silent')).state !== 'installing');
    const said = join(dirname(site), 'state.json');
    await writeFile(said, '{"state": "installing", "detail": "The packages are being installed."}');
    expect(await state('silent')).toMatchObject({ state: 'installing' });
    await age(said, 60_000);
    expect(await state('silent')).toMatchObject({
      state: 'absent',
      detail: expect.stringContaining('cut off'),
    });
    await answers('silent');
    expect(await state('silent')).toMatchObject({ state: 'ready' });
    expect((await stat(said)).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  });

  it('is whole or installed again after a restart of the killed server', async () => {
    index.shut();
    const dataDir = await mkdtemp(join(tmpdir(), 'parley-killed-'));
    const database = await createDatabase();
    await linkEnvironment(dataDir);
    const env = {
      PYTHON: '',
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS: 'true',
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: index.url,
      PIP_DEFAULT_TIMEOUT: '600',
    };
    const first = spawnMain(env);
    const url = await first.ready();
    const ada = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    const { body } = await call(url, 'POST /auths/signup', { body: ada });
    const create = { id: 't', name: 't', meta: {}, content: source('greeter>0.7') };
    await until(
      'Python',
      async () => (await call(url, 'POST /tools/create', { token: body.token, body: create })).status !== 503,
    );
    await until('pip to ask', () => index.waiting() > 0);
    await first.stop('SIGKILL');
    const second = spawnMain(env);
    const again = await second.ready();
    index.open();
    const ask = () => call(again, 'POST /tools/id/t/call', { token: body.token, body: { function: 'f' } });
    await until('the tool to answer', async () => (await ask()).status === 200);
    expect((await ask()).body.result).toBe('hello');
    await second.stop();
    await until('no installer', async () => (await installersOf(dataDir)).length === 0);
    await database.drop();
    await rm(dataDir, { recursive: true });
  });
});
