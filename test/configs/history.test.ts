import { afterAll, describe, expect, it } from 'vitest';
import { HISTORY_ENTRIES } from '../../src/configs/configs.repository.ts';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { administer } from './support.ts';

const server = await startServer({ env: { LOG_LEVEL: 'silent' } });
afterAll(() => server.close());
const root = await signUp(server, 'Root');
const other = await signUpAs(server, root, 'Other', 'admin');
const user = await signUpAs(server, root, 'User', 'user');
const admin = administer(server, root);

const history = async (query = '', token = root.token) =>
  (await server.call(`GET /configs/history${query}`, { token })).body;
const rollback = (id: unknown, token = root.token) =>
  server.call('POST /configs/rollback', { token, body: { id } });
const watermark = async () => (await admin.exported()).ui.watermark;
const marked = (mark: string) =>
  admin.configure((configuration) => {
    configuration.ui.watermark = mark;
  });

describe('GET /configs/history', () => {
  it('and the rollback require an administrator', async () => {
    expect((await server.call('GET /configs/history')).status).toBe(401);
    expect((await rollback(crypto.randomUUID(), '')).status).toBe(401);
    expect((await server.call('GET /configs/history', { token: user.token })).status).toBe(403);
    expect((await rollback(crypto.randomUUID(), user.token)).status).toBe(403);
  });

  it('begins with the initial configuration', async () => {
    expect(await history()).toEqual([
      {
        id: expect.any(String),
        revision: 1,
        origin: 'start',
        changed: [],
        created_at: expect.any(Number),
        created_by: null,
        is_current: true,
      },
    ]);
  });

  it('shows author, changes and time, newest first', async () => {
    await marked('one');
    const configuration = structuredClone(DEFAULT_CONFIGURATION);
    configuration.ui.watermark = 'two';
    Object.assign(configuration, { extra: { deep: 1 } });
    await administer(server, other).importing(configuration);
    const [newest, before, first] = await history();
    expect(newest).toMatchObject({
      revision: 3,
      origin: 'import',
      changed: ['ui.watermark', 'extra'],
      created_by: { id: other.id, name: 'Other' },
      is_current: true,
    });
    expect(Math.abs(newest.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(before).toMatchObject({
      changed: ['ui.watermark'],
      created_by: { name: 'Root' },
      is_current: false,
    });
    expect(first.revision).toBe(1);
    expect(await history('?skip=1&limit=1')).toEqual([before]);
    expect(JSON.stringify(await history())).not.toContain('two');
  });

  it('keeps the last changes and deletes older ones', async () => {
    await server.database.query(
      `insert into config_history (id, revision, data, origin, changed, created_at)
       select gen_random_uuid(), 1 - n, '{}', 'import', '[]', 0 from generate_series(1, 200) n`,
    );
    await marked('forgets');
    const revisions = await server.database.query<{ revision: number }>(
      'select revision from config_history order by revision desc',
    );
    const newest = revisions[0]?.revision ?? 0;
    expect(revisions.every(({ revision }) => revision > newest - HISTORY_ENTRIES)).toBe(true);
    expect(revisions.length).toBe(HISTORY_ENTRIES);
    await server.database.query('delete from config_history where revision < 1');
  });
});

describe('a setting', () => {
  it('has a history of its values, and two entries can be compared', async () => {
    await admin.configure(({ hosted_model_api, ui }) => {
      Object.assign(hosted_model_api, { api_base_urls: ['https://x.example.com'], api_keys: ['sk-first'] });
      ui.watermark = 'first';
    });
    await admin.configure(({ hosted_model_api, ui }) => {
      Object.assign(hosted_model_api, { api_base_urls: ['https://x.example.com'], api_keys: ['sk-second'] });
      ui.watermark = 'first';
    });
    await marked('second');
    const ofMark = await history('?path=ui.watermark&limit=2');
    expect(ofMark.map(({ value }: { value: string }) => value)).toEqual(['second', 'first']);
    expect((await history('?path=ui&limit=1'))[0].value).toMatchObject({ watermark: 'second' });
    const ofKeys = await history('?path=hosted_model_api.api_keys&limit=2');
    expect(ofKeys[1].value).toEqual(['********']);
    const [last, keys, first] = await history('?limit=3');
    const compare = async (query: string, token = root.token) =>
      server.call(`GET /configs/compare?${query}`, { token });
    expect((await compare(`from_id=${first.id}&to_id=${keys.id}`)).body).toEqual({
      changes: [{ path: 'hosted_model_api.api_keys', before: ['********'], after: ['********'] }],
    });
    expect((await compare(`from_id=${keys.id}`)).body.changes).toContainEqual({
      path: 'ui.watermark',
      before: 'first',
      after: 'second',
    });
    expect((await compare(`from_id=${last.id}`)).body).toEqual({ changes: [] });
    expect((await compare(`from_id=${crypto.randomUUID()}`)).status).toBe(404);
    expect((await compare(`from_id=${first.id}`, user.token)).status).toBe(403);
  });
});

describe('POST /configs/rollback', () => {
  it('restores an earlier configuration with its secrets, as a new change', async () => {
    await admin.configure(({ hosted_model_api, ui }) => {
      Object.assign(hosted_model_api, { api_base_urls: ['https://x.example.com'], api_keys: ['sk-x'] });
      ui.watermark = 'earlier';
    });
    const earlier = await admin.exported('?secrets=true');
    const [{ id }] = await history();
    await marked('later');
    const { status, body } = await rollback(id);
    expect([status, body.ui.watermark, body.hosted_model_api.api_keys]).toEqual([
      200,
      'earlier',
      ['********'],
    ]);
    expect(await admin.exported('?secrets=true')).toEqual(earlier);
    const [newest] = await history();
    expect(newest).toMatchObject({ origin: 'rollback', created_by: { name: 'Root' }, is_current: true });
    expect(newest.changed).toContain('ui.watermark');
  });

  it('can be undone by another rollback', async () => {
    await marked('kept');
    await marked('mistake');
    const [, { id }] = await history();
    const [{ id: mistake }] = await history();
    await rollback(id);
    expect(await watermark()).toBe('kept');
    await rollback(mistake);
    expect(await watermark()).toBe('mistake');
  });

  it.each([
    ['of a missing entry', crypto.randomUUID(), 404],
    ['without an id', undefined, 400],
    ['of a malformed id', 'latest', 400],
    ['of a number', 1, 400],
    ['of null', null, 400],
  ])('%s is refused and changes nothing', async (_what, id, status) => {
    const before = await history();
    expect((await rollback(id)).status).toBe(status);
    expect(await history()).toEqual(before);
  });

  it('during many imports keeps every change whole and in the history', async () => {
    await marked('base');
    const [{ id, revision }] = await history();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? rollback(id) : marked(`mark ${i}`))),
    );
    expect(answers).toHaveLength(12);
    const changes = (await history()).filter((change: { revision: number }) => change.revision > revision);
    expect(changes.map((change: { revision: number }) => change.revision - revision)).toEqual(
      Array.from({ length: 12 }, (_, i) => 12 - i),
    );
    const rows = await server.database.query<{ same: boolean }>(
      'select h.data = c.data as same from config c join config_history h using (revision)',
    );
    expect(rows).toEqual([{ same: true }]);
  });

  it('that is interrupted leaves neither a change nor an entry', async () => {
    const before = await history();
    const [, { id }] = before;
    await withClient(server.database.url, async (holder) => {
      await holder.query('begin');
      await holder.query('lock table config_history in exclusive mode');
      const pending = rollback(id);
      const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      const { query } = server.database;
      await until('the rollback to wait', async () => (await query(`select ${waiting}`)).length > 0);
      await query(`select pg_terminate_backend(pid) ${waiting}`);
      expect((await pending).status).toBe(503);
    });
    expect(await history()).toEqual(before);
  });
});
