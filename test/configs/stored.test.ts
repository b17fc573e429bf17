import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Person, signUp, startServer, type TestServer } from '../support/server.ts';
import { administer } from './support.ts';

const env = { SECRET_KEY: 's'.repeat(40), LOG_LEVEL: 'silent' };
let database: TestDatabase;
let root: Person;

/** Starts on the database, and ends it again. */
async function withServer<T>(work: (server: TestServer) => Promise<T>, more = {}): Promise<T> {
  const server = await startServer({ database, env: { ...env, ...more } });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}
const exported = () => withServer((server) => administer(server, root).exported('?secrets=true'));
const store = (data: unknown) =>
  database.query('update config set data = $1, revision = revision + 1', [JSON.stringify(data)]);

beforeAll(async () => {
  database = await createDatabase();
  root = await withServer((server) => signUp(server, 'Root'));
});
beforeEach(() => store(DEFAULT_CONFIGURATION));
afterAll(() => database.drop());

describe('a stored configuration', () => {
  it('of an older version takes the defaults for what that did not know, and keeps the rest', async () => {
    const { files: _files, folders, ...older } = structuredClone(DEFAULT_CONFIGURATION);
    older.ui.watermark = 'kept';
    await store({ ...older, version: 0, folders: { enable: false }, unknown: [1] });
    expect(await exported()).toEqual({
      ...older,
      version: CONFIG_VERSION,
      files: DEFAULT_CONFIGURATION.files,
      folders: { ...folders, enable: false },
      unknown: [1],
    });
  });

  it('whose secrets are in clear, as an older version stored them, is read, and sealed by the next import', async () => {
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

  it('that somebody has spoilt does not keep the server from starting, and can be mended by an import', async () => {
    await store({ ...DEFAULT_CONFIGURATION, channels: { enable: 'yes' }, notes: null });
    await withServer(async (server) => {
      const admin = administer(server, root);
      await admin.configure(() => {});
      expect(await admin.exported()).toEqual(DEFAULT_CONFIGURATION);
    });
  });

  it('of a newer version stops the start, and stays as it is', async () => {
    const newer = { ...DEFAULT_CONFIGURATION, version: CONFIG_VERSION + 1 };
    await store(newer);
    await expect(exported()).rejects.toThrow(
      expect.objectContaining({
        name: 'StartError',
        message: expect.stringContaining('Update the server first'),
      }),
    );
    expect(await database.query('select data from config')).toEqual([{ data: newer }]);
  });

  it('is not looked at before a wrong variable stops the start', async () => {
    const wrong = withServer(async () => {}, {
      ENABLE_SIGNUP: 'perhaps',
      DATABASE_URL: 'postgresql://nowhere.invalid/x',
    });
    await expect(wrong).rejects.toThrow('The environment variable ENABLE_SIGNUP is wrong');
  });
});
