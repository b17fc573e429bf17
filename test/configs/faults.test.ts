import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { withValue } from '../../src/configs/settings/configs.settings.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Person, signUpAll, startServer, type TestServer } from '../support/server.ts';
import { administer } from './support.ts';

/** Stored configurations that cannot be used, for example after an edit of the row by hand. */
let database: TestDatabase;
let root: Person;
let user: Person;
const log: string[] = [];

/** Starts a server with this object stored as the configuration, and calls it as the administrator. */
async function withStored<T>(
  data: object,
  work: (at: TestServer & { admin: ReturnType<TestServer['as']> }) => Promise<T>,
): Promise<T> {
  await database.query('update config set data = $1, revision = revision + 1', [JSON.stringify(data)]);
  log.length = 0;
  const server = await startServer({ database, log: { write: (line) => log.push(line) } });
  try {
    return await work({ ...server, admin: server.as(root) });
  } finally {
    await server.close();
  }
}
const storedNow = async () => (await database.query<{ data: object }>('select data from config'))[0]?.data;
const warnings = () => log.filter((line) => line.includes('"level":40')).join('');

beforeAll(async () => {
  database = await createDatabase();
  const server = await startServer({ database });
  [root, user] = await signUpAll(server, 'Root', 'User');
  await server.close();
  return () => database.drop();
});

describe('a stored section that the schema refuses', () => {
  const faulty = withValue(DEFAULT_CONFIGURATION, 'ui', {
    ...DEFAULT_CONFIGURATION.ui,
    watermark: 'lost',
    enable_message_rating: 'often',
  });
  const kept = { ...faulty, webui: { url: 'https://kept.example.com' } };
  const fault = { path: 'ui', message: 'enable_message_rating: must be true or false' };

  it('is replaced by its defaults, and named in the log and to administrators', () =>
    withStored(kept, async ({ admin, as, call }) => {
      const { status, body } = await admin('GET /auths/admin/config');
      expect([status, body.faults]).toEqual([200, [fault]]);
      expect(body).toMatchObject({
        ENABLE_MESSAGE_RATING: true,
        RESPONSE_WATERMARK: '',
        WEBUI_URL: 'https://kept.example.com',
      });
      expect((await admin('GET /configs/explain')).body.faults).toEqual([fault]);
      expect(warnings()).toContain('The stored ui cannot be used');
      // Parts of other sections do not list the fault.
      expect((await admin('GET /configs/connections')).body).not.toHaveProperty('faults');
      for (const path of ['GET /auths/admin/config', 'GET /configs/explain']) {
        expect([(await call(path)).status, (await as(user)(path)).status]).toEqual([401, 403]);
      }
      expect((await call('GET /config')).body).not.toHaveProperty('faults');
    }));

  it('is removed by a change of another part, which keeps the other sections', () =>
    withStored(kept, async ({ admin }) => {
      const connections = { ENABLE_DIRECT_CONNECTIONS: true, ENABLE_BASE_MODELS_CACHE: true };
      expect((await admin('POST /configs/connections', connections)).status).toBe(200);
      const stored = await storedNow();
      expect(stored).toMatchObject({ webui: kept.webui, direct: { enable: true } });
      expect(stored).not.toHaveProperty('ui');
      expect((await admin('GET /configs/explain')).body.faults).toEqual([]);
    }));

  it.each<[path: string, value: unknown]>([
    ['ui', 'a text'],
    ['channels', null],
    ['auth.jwt_expiry', 'soon'],
    ['files.max_size', -1],
    ['user.permissions.workspace', []],
    ['hosted_model_api.api_keys', 'sk-not-a-list'],
    ['version', 'one'],
  ])('%s: %j does not stop the start', (path, value) =>
    withStored(withValue(DEFAULT_CONFIGURATION, path, value), async (at) => {
      const { body } = await at.admin('GET /configs/explain');
      expect(body.faults.map((one: { path: string }) => one.path)).toEqual([path.split('.')[0]]);
      expect(await administer(at, root).exported('?secrets=true')).toEqual(DEFAULT_CONFIGURATION);
      expect(JSON.stringify(body) + log.join('')).not.toContain('sk-not-a-list');
    }),
  );
});

describe('a stored section that is optional', () => {
  it('is kept as it was imported; a part that cannot show it shows its default', () =>
    withStored({ ...DEFAULT_CONFIGURATION, users: { enable_status: 'yes' } }, async (at) => {
      const faults = [{ path: 'users.enable_status', message: 'must be true or false' }];
      const { body: part } = await at.admin('GET /auths/admin/config');
      expect(part).toMatchObject({ ENABLE_USER_STATUS: true, faults });
      const administration = administer(at, root);
      const exported = await administration.exported();
      expect(exported).toMatchObject({ users: { enable_status: 'yes' } });
      await administration.importing(exported);
      expect((await at.admin('GET /auths/admin/config')).body.faults).toEqual(faults);
      await at.admin('POST /auths/admin/config', part);
      expect(await storedNow()).toMatchObject({ users: { enable_status: true } });
      expect((await at.admin('GET /auths/admin/config')).body).not.toHaveProperty('faults');
    }));

  it('is ignored when it is stored under both of its names', () =>
    withStored({ ...DEFAULT_CONFIGURATION, ollama: { enable: true } }, async (at) => {
      const { body } = await at.admin('GET /configs/explain');
      expect(body.faults.map((one: { path: string }) => one.path)).toEqual(['ollama']);
      expect(await administer(at, root).exported()).toEqual(DEFAULT_CONFIGURATION);
    }));
});
