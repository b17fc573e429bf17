import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { valueAt, withValue } from '../../src/configs/settings/configs.settings.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Person, signUpAll, startServer, type TestServer } from '../support/server.ts';
import { administer } from './support.ts';

/** What is stored of the configuration and cannot be used, as when somebody edited the row. */
let database: TestDatabase;
let root: Person;
let user: Person;
const log: string[] = [];

/** A server that starts on an object in the database, with somebody who calls it as the administrator. */
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
const errors = () => log.filter((line) => line.includes('"level":50')).join('');

beforeAll(async () => {
  database = await createDatabase();
  const server = await startServer({ database });
  [root, user] = await signUpAll(server, 'Root', 'User');
  await server.close();
  return () => database.drop();
});

describe('a stored member that is not as it should be', () => {
  const own = { watermark: 'kept', enable_community_sharing: true, default_group_id: 'kept' };
  const faulty = withValue(DEFAULT_CONFIGURATION, 'ui', {
    ...DEFAULT_CONFIGURATION.ui,
    ...own,
    enable_message_rating: 'often',
  });
  const fault = { path: 'ui.enable_message_rating', message: 'must be true or false' };

  it('has its default in force, and is named in the log and to administrators', () =>
    withStored(faulty, async ({ admin, as, call }) => {
      const { status, body } = await admin('GET /auths/admin/config');
      expect([status, body.faults]).toEqual([200, [fault]]);
      expect(body).toMatchObject({
        ENABLE_MESSAGE_RATING: true,
        ENABLE_COMMUNITY_SHARING: true,
        RESPONSE_WATERMARK: 'kept',
      });
      expect((await admin('GET /configs/explain')).body.faults).toEqual([fault]);
      expect(errors()).toContain('ui.enable_message_rating: must be true or false');
      // Parts without it say nothing of it.
      expect((await admin('GET /configs/models')).body).not.toHaveProperty('faults');
      for (const path of ['GET /auths/admin/config', 'GET /configs/explain']) {
        expect([(await call(path)).status, (await as(user)(path)).status]).toEqual([401, 403]);
      }
      expect((await call('GET /config')).body).not.toHaveProperty('faults');
    }));

  it('is mended by a save of its part as it was answered, and nothing else of it is lost', () =>
    withStored(faulty, async ({ admin }) => {
      const { body: part } = await admin('GET /auths/admin/config');
      const saved = await admin('POST /auths/admin/config', { ...part, ENABLE_NOTES: false });
      expect([saved.status, saved.body.faults, saved.body.ENABLE_NOTES]).toEqual([200, undefined, false]);
      const stored = await storedNow();
      expect(stored).toMatchObject({ ui: { ...own, enable_message_rating: true }, notes: { enable: false } });
      expect((await admin('GET /configs/explain')).body.faults).toEqual([]);
    }));

  it('is mended by a save of another part, too', () =>
    withStored(faulty, async ({ admin }) => {
      const connections = { ENABLE_DIRECT_CONNECTIONS: true, ENABLE_BASE_MODELS_CACHE: true };
      expect((await admin('POST /configs/connections', connections)).status).toBe(200);
      expect(await storedNow()).toMatchObject({
        ui: { ...own, enable_message_rating: true },
        direct: { enable: true },
      });
    }));

  it.each<[path: string, value: unknown]>([
    ['ui.default_user_role', 'owner'],
    ['ui', 'a text'],
    ['channels', null],
    ['auth.jwt_expiry', 'soon'],
    ['files.max_size', -1],
    ['user.permissions.chat.file_upload', 'yes'],
    ['user.permissions.workspace', []],
    ['hosted_model_api.api_keys', 'sk-not-a-list'],
    ['models.default_params', 'none'],
    ['version', 'one'],
  ])('%s: %j is no obstacle', (path, value) =>
    withStored(withValue(DEFAULT_CONFIGURATION, path, value), async (at) => {
      const { body } = await at.admin('GET /configs/explain');
      expect(body.faults.map((one: { path: string }) => one.path)).toEqual([path]);
      expect(await administer(at, root).exported('?secrets=true')).toEqual(DEFAULT_CONFIGURATION);
      const changed = { ENABLE_DIRECT_CONNECTIONS: false, ENABLE_BASE_MODELS_CACHE: true };
      expect((await at.admin('POST /configs/connections', changed)).status).toBe(200);
      expect(valueAt(await storedNow(), path)).toEqual(valueAt(DEFAULT_CONFIGURATION, path));
      expect(JSON.stringify(body) + log.join('')).not.toContain('sk-not-a-list');
    }),
  );
});

describe('a faulty entry of a list', () => {
  const banner = (id: string) => ({ id, type: 'info', content: id, dismissible: true, timestamp: 1 });
  const tools = (name: string, more: object = {}) => ({
    ...{ url: `https://${name}.example.com`, path: 'openapi.json', type: 'openapi', auth_type: 'bearer' },
    ...{ headers: null, key: `sk-${name}`, config: null, ...more },
  });

  it('is left out, and the others stay, with their secrets', () =>
    withStored(
      {
        ...DEFAULT_CONFIGURATION,
        ui: {
          ...DEFAULT_CONFIGURATION.ui,
          banners: [
            banner('one'),
            { ...banner('two'), content: 2, timestamp: 'now' },
            'three',
            banner('four'),
          ],
          model_order_list: ['a', 1, 'b'],
        },
        tool_server: {
          connections: [tools('a'), tools('b', { url: 'nowhere' }), tools('c', { headers: 'none' })],
        },
      },
      async (at) => {
        const { ui, tool_server } = await administer(at, root).exported('?secrets=true');
        expect(ui.banners).toEqual([banner('one'), banner('four')]);
        expect(ui.model_order_list).toEqual(['a', 'b']);
        const { headers: _headers, ...third } = tools('c');
        expect(tool_server.connections).toEqual([tools('a'), third]);
        const { body } = await at.admin('GET /configs/tool_servers');
        expect(body.faults.map((one: { path: string }) => one.path)).toEqual([
          'tool_server.connections.1.url',
          'tool_server.connections.2.headers',
        ]);
        // As a client saves it, masks in the place of keys.
        expect((await at.admin('POST /configs/tool_servers', body)).status).toBe(200);
        const after = await administer(at, root).exported('?secrets=true');
        expect(after.tool_server.connections).toEqual([tools('a'), third]);
      },
    ));

  it('takes along what stands at its place, so that no key is ever of another address', () =>
    withStored(
      {
        ...DEFAULT_CONFIGURATION,
        hosted_model_api: {
          enable: true,
          api_base_urls: ['https://a.example.com', 'b', 'https://c.example.com', 'https://d.example.com'],
          api_keys: ['sk-a', 'sk-b', 7, 'sk-d'],
          api_configs: {
            0: { of: 'a' },
            1: { of: 'b' },
            3: { of: 'd' },
            'https://c.example.com': { of: 'c' },
          },
        },
      },
      async (at) => {
        expect((await administer(at, root).exported('?secrets=true')).hosted_model_api).toEqual({
          enable: true,
          api_base_urls: ['https://a.example.com', 'https://c.example.com', 'https://d.example.com'],
          api_keys: ['sk-a', '', 'sk-d'],
          api_configs: { 0: { of: 'a' }, 2: { of: 'd' }, 'https://c.example.com': { of: 'c' } },
        });
        expect((await at.admin('GET /configs/explain')).body.faults).toHaveLength(2);
      },
    ));
});

describe('what the configuration need not hold', () => {
  it('is kept as an import brings it, and a part that could not show it shows its default', () =>
    withStored({ ...DEFAULT_CONFIGURATION, memories: { enable: 'yes' } }, async (at) => {
      const faults = [{ path: 'memories.enable', message: 'must be true or false' }];
      const { body: part } = await at.admin('GET /auths/admin/config');
      expect(part).toMatchObject({ ENABLE_MEMORIES: true, ENABLE_USER_STATUS: true, faults });
      const administration = administer(at, root);
      const exported = await administration.exported();
      expect(exported).toMatchObject({ memories: { enable: 'yes' } });
      await administration.importing(exported);
      expect((await at.admin('GET /auths/admin/config')).body.faults).toEqual(faults);
      await at.admin('POST /auths/admin/config', part);
      expect(await storedNow()).toMatchObject({ memories: { enable: true } });
      expect((await at.admin('GET /auths/admin/config')).body).not.toHaveProperty('faults');
    }));

  it('goes where a section is there under both of its names', () =>
    withStored({ ...DEFAULT_CONFIGURATION, ollama: { enable: true } }, async (at) => {
      const { body } = await at.admin('GET /configs/explain');
      expect(body.faults.map((one: { path: string }) => one.path)).toEqual(['ollama']);
      expect(await administer(at, root).exported()).toEqual(DEFAULT_CONFIGURATION);
    }));
});
