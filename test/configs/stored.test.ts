import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { openOrm } from '../../src/database/orm.ts';
import { entities } from '../../src/entities.ts';
import { run } from '../cli/run.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Person, signUp, startServer, type TestServer } from '../support/server.ts';
import { administer } from './support.ts';

const env = { SECRET_KEY: 's'.repeat(40), LOG_LEVEL: 'silent' };
let database: TestDatabase;
let root: Person;

/** Starts a server on the database and stops it again. */
async function withServer<T>(work: (server: TestServer) => Promise<T>, more = {}): Promise<T> {
  const server = await startServer({ database, env: { ...env, ...more } });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}
const exportedBy = (server: TestServer) => administer(server, root).exported('?secrets=true');
/** What a command prints as JSON. A command reads the configuration as a server does at its start, and is quicker. */
async function printed(...words: string[]) {
  const { code, stdout, stderr } = await run(words, {
    ...env,
    DATABASE_URL: database.url,
    DATA_DIR: tmpdir(),
  });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
const exported = () => printed('config', 'export', '--secrets');
const store = (data: unknown) =>
  database.query('update config set data = $1, revision = revision + 1', [JSON.stringify(data)]);

beforeAll(async () => {
  database = await createDatabase();
  root = await withServer((server) => signUp(server, 'Root'));
});
beforeEach(() => store(DEFAULT_CONFIGURATION));
afterAll(() => database.drop());

describe('a stored configuration', () => {
  it('of an older version gets the defaults for new settings, and keeps the rest', async () => {
    const { files: _files, folders, ...older } = structuredClone(DEFAULT_CONFIGURATION);
    older.ui.watermark = 'kept';
    await store({ ...older, version: 0, folders: { enable: false }, unknown: [1] });
    expect(await withServer(exportedBy)).toEqual({
      ...older,
      version: CONFIG_VERSION,
      files: DEFAULT_CONFIGURATION.files,
      folders: { ...folders, enable: false },
      unknown: [1],
    });
  });

  it('with secrets in clear text, as an older version stored them, is read, and sealed by the next import', async () => {
    const older = structuredClone(DEFAULT_CONFIGURATION);
    older.hosted_model_api.api_base_urls = ['https://one.example.com'];
    older.hosted_model_api.api_keys = ['sk-in-clear'];
    await store(older);
    expect((await exported()).hosted_model_api.api_keys).toEqual(['sk-in-clear']);
    await withServer(async (server) => {
      const admin = administer(server, root);
      expect((await admin.importing(await admin.exported())).status).toBe(200);
    });
    expect(JSON.stringify(await database.query('select data from config'))).not.toContain('sk-in-clear');
    expect((await exported()).hosted_model_api.api_keys).toEqual(['sk-in-clear']);
  });

  it('that was damaged by hand does not stop the start, and an import repairs it', async () => {
    await store({ ...DEFAULT_CONFIGURATION, channels: { enable: 'yes' }, notes: null });
    await withServer(async (server) => {
      const admin = administer(server, root);
      await admin.configure(() => {});
      expect(await admin.exported()).toEqual(DEFAULT_CONFIGURATION);
    });
  });

  it('that is too large stops the start with one line that says so', async () => {
    await store({ ...DEFAULT_CONFIGURATION, unknown: 'x'.repeat(5 * 1024 ** 2) });
    await expect(withServer(exportedBy)).rejects.toThrow(/^The stored configuration cannot be used: .*bytes/);
  });

  it('of a newer version stops the start, and stays unchanged', async () => {
    const newer = { ...DEFAULT_CONFIGURATION, version: CONFIG_VERSION + 1 };
    await store(newer);
    await expect(withServer(exportedBy)).rejects.toThrow(
      expect.objectContaining({
        name: 'StartError',
        message: expect.stringContaining('Update the server first'),
      }),
    );
    expect(await database.query('select data from config')).toEqual([{ data: newer }]);
  });

  it('is not read before an invalid variable stops the start', async () => {
    const wrong = withServer(async () => {}, {
      ENABLE_SIGNUP: 'perhaps',
      DATABASE_URL: 'postgresql://nowhere.invalid/x',
    });
    await expect(wrong).rejects.toThrow('The environment variable ENABLE_SIGNUP is wrong');
  });
});

/** Imitates a later version with another default. */
async function withDefault<T>(change: (initial: Configuration) => void, work: () => Promise<T>): Promise<T> {
  const own = structuredClone(DEFAULT_CONFIGURATION);
  change(DEFAULT_CONFIGURATION);
  try {
    return await work();
  } finally {
    Object.assign(DEFAULT_CONFIGURATION, own);
  }
}
const laterDefault = (initial: Configuration) => {
  initial.ui.default_locale = 'later';
};
async function sourceOf(path: string) {
  const [{ value, source, set_at, set_by }] = await printed('config', 'explain', path, '--json');
  return { value, source, set_at, set_by };
}
const localeAfter = (configure: (server: TestServer) => Promise<unknown>) =>
  withServer(configure).then(() =>
    withDefault(laterDefault, async () => (await exported()).ui.default_locale),
  );
const NOT_SET = { source: 'default', set_at: null, set_by: null };

describe('a new default of a later version', () => {
  beforeEach(() => store({ version: CONFIG_VERSION }));

  it('applies to an installation without set values', async () => {
    const other = await createDatabase();
    const first = await startServer({ database: other, env });
    expect(await other.query('select data from config')).toEqual([{ data: { version: CONFIG_VERSION } }]);
    await first.close();
    await other.drop();
    await withDefault(laterDefault, async () => {
      expect((await exported()).ui.default_locale).toBe('later');
      expect(await sourceOf('ui.default_locale')).toEqual({ value: 'later', ...NOT_SET });
    });
  });

  it('applies to a setting that a part did not name', async () => {
    const locale = await localeAfter((server) =>
      server.as(root)('POST /configs/suggestions', { suggestions: [] }),
    );
    expect(locale).toBe('later');
  });

  it('applies to a setting that null reset to its default', async () => {
    const locale = await localeAfter(async (server) => {
      const admin = administer(server, root);
      expect((await admin.importing({ 'ui.default_locale': 'de' })).status).toBe(200);
      expect((await admin.importing({ 'ui.default_locale': null })).body.ui.default_locale).toBe('');
    });
    expect(locale).toBe('later');
  });

  it('applies to settings that were missing in an export of another system', async () => {
    const ui = { watermark: 'set' };
    const locale = await localeAfter((server) =>
      administer(server, root).importing({ version: 0, ui }, '?fill=defaults'),
    );
    expect(locale).toBe('later');
  });

  it('does not apply where an import set the value of the old default', async () => {
    const locale = await localeAfter((server) => administer(server, root).configure(() => {}));
    expect(locale).toBe('');
    const shown = await sourceOf('ui.default_locale');
    expect(shown).toEqual({ value: '', source: 'stored', set_at: expect.any(Number), set_by: root.id });
  });

  it('does not apply where a flat import set the value; sending it again keeps the author', async () => {
    const flat = { 'ui.default_locale': '' };
    const locale = await localeAfter((server) => administer(server, root).importing(flat));
    expect(locale).toBe('');
    const before = await sourceOf('ui.default_locale');
    await database.query(`update config set origins = jsonb_set(origins, '{ui.default_locale,at}', '7')`);
    await withServer((server) => administer(server, root).importing(flat));
    expect(await sourceOf('ui.default_locale')).toEqual({ ...before, set_at: 7 });
  });

  it('applies to a setting that a rollback reset to its default', async () => {
    const locale = await localeAfter(async (server) => {
      await administer(server, root).importing({ 'ui.default_locale': 'de' });
      await administer(server, root).importing({ 'ui.default_locale': null });
      await administer(server, root).importing({ 'ui.default_locale': 'fr' });
      const { body } = await server.as(root)('GET /configs/history?limit=2');
      expect((await server.as(root)('POST /configs/rollback', { id: body[1].id })).status).toBe(200);
    });
    expect(locale).toBe('later');
  });

  it('applies to a setting without a stored value after its pin is removed', async () => {
    await withServer((server) => administer(server, root).configure(() => {}), { DEFAULT_LOCALE: 'pinned' });
    await withDefault(laterDefault, async () => expect((await exported()).ui.default_locale).toBe('later'));
  });
});

/** As versions before the models stored it. */
function withoutLaterSettings({ usage: _usage, ...older }: typeof DEFAULT_CONFIGURATION) {
  const { open_provider_models: _open, ...models } = older.models;
  const {
    model_chain: _chain,
    model_response_mode: _mode,
    model_image_side: _side,
    ...channels
  } = older.channels;
  const { pending_user_overlay_title: _title, pending_user_overlay_content: _content, ...ui } = older.ui;
  return { ...older, ui, models, channels, webui: { url: older.webui.url } };
}

it('does not replace values that differ from the defaults in a database of old versions, which stored every default', async () => {
  const orm = await openOrm(entities, { url: database.url });
  const names = (await orm.migrator.getExecuted()).map(({ name }) => name);
  await orm.migrator.down({ to: names[names.findIndex((name) => name.endsWith('_overrides')) - 1] ?? '' });
  const older = structuredClone(DEFAULT_CONFIGURATION);
  Object.assign(older.ui, { watermark: 'set? yes', default_user_role: 'user' });
  Object.assign(older, { unknown: { deep: [null] } });
  await store(withoutLaterSettings(older));
  await orm.close(true);
  expect(await withServer(exportedBy)).toEqual(older);
  expect(await database.query('select data from config')).toEqual([
    {
      data: {
        version: CONFIG_VERSION,
        ui: { watermark: 'set? yes', default_user_role: 'user' },
        unknown: { deep: [null] },
      },
    },
  ]);
  const unknownOrigin = { source: 'stored', set_at: null, set_by: null };
  expect(await sourceOf('ui.watermark')).toEqual({ value: 'set? yes', ...unknownOrigin });
  expect(await sourceOf('ui.default_locale')).toEqual({ value: '', ...NOT_SET });
});
