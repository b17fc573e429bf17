import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, openOrm } from '../../src/database/orm.ts';
import { entities } from '../../src/entities.ts';
import { installQueue } from '../../src/jobs/install.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type OldPostgres, startOldPostgres, withoutOldPostgres } from '../support/postgres.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';
import { listenByTrpc } from '../support/sockets.ts';

/**
 * The same tests on both ends of the supported range: the embedded PostgreSQL, and the oldest one that
 * DATABASE_URL may name.
 */
describe.each([
  ['the PostgreSQL of the run', false],
  ['PostgreSQL 15', true],
])('on %s', (_name, isOld) => {
  describe.skipIf(isOld && withoutOldPostgres)('the data layer', () => {
    let old: OldPostgres | undefined;
    let database: TestDatabase;
    let server: TestServer;
    let root: Person;
    let user: Person;

    beforeAll(async () => {
      old = isOld ? await startOldPostgres() : undefined;
      database = await createDatabase(old ? { clusterUrl: old.url } : { empty: true });
      server = await startServer({ database });
      root = await signUp(server, 'Root');
      user = await signUpAs(server, root, 'User', 'user');
    });
    afterAll(async () => {
      await server.close();
      await database.drop();
      await old?.stop();
    });

    it('runs on the intended version', async () => {
      const [row] = await database.query<{ v: number }>(
        `select current_setting('server_version_num')::int / 10000 as v`,
      );
      if (isOld) expect(row?.v).toBe(15);
      else expect(row?.v).toBeGreaterThanOrEqual(15);
    });

    it('matches the entities, and a second migration changes nothing', async () => {
      const orm = await openOrm(entities, { url: database.url });
      await migrate(orm, installQueue);
      const difference = await orm.schema.getUpdateSchemaSQL();
      await orm.close(true);
      // Indexes, keys and triggers that MikroORM cannot describe are written by hand; MikroORM would only
      // drop those.
      const statements = difference
        .split('\n')
        .filter((line) => line !== '' && !/^set |drop (constraint|index|trigger|function)/i.test(line));
      expect(statements).toEqual([]);
    });

    it('stores accounts, finds them in any case, and ends sessions', async () => {
      await server.call('POST /users', {
        token: root.token,
        body: {
          email: 'aerger@example.com',
          name: 'ÄRGER',
          password: 'a long password',
          oauth: { google: { sub: '%' } },
        },
      });
      const { body } = await server.call(`GET /users?query=${encodeURIComponent('ärg')}`, {
        token: root.token,
      });
      expect(body).toMatchObject({ total: 1, users: [{ name: 'ÄRGER' }] });
      const other = await signUp(server, 'Other');
      await server.call('POST /auths/signout', { token: other.token });
      expect((await server.call('GET /auths', { token: other.token })).status).toBe(401);
      expect((await server.call(`DELETE /users/${other.id}`, { token: root.token })).body).toBe(true);
    });

    it('stores the configuration', async () => {
      const { body } = await server.call('GET /configs/export', { token: root.token });
      body.ui.watermark = 'kept';
      expect((await server.call('POST /configs/import', { token: root.token, body })).body).toEqual(body);
      const [row] = await database.query<{ data: unknown }>('select data from config');
      expect(row?.data).toEqual(body);
    });

    it('stores channels, messages and their events, and sends notices about them', async () => {
      const { body: channel } = await server.call('POST /channels/create', {
        token: root.token,
        body: {
          name: 'general',
          access_grants: [{ principal_type: 'user', principal_id: user.id, permission: 'write' }],
        },
      });
      const listener = await listenByTrpc(server.url, user.token);
      const at = `/channels/${channel.id}/messages`;
      const post = async (content: string, parent_id?: string) =>
        (
          await server.call(`POST ${at}/post`, {
            token: user.token,
            body: { content, ...(parent_id && { parent_id }) },
          })
        ).body;
      const first = await post('first');
      await post('reply', first.id);
      const second = await post('second');
      await server.call(`POST ${at}/${first.id}/update`, { token: user.token, body: { content: 'edited' } });
      expect((await server.call(`DELETE ${at}/${second.id}/delete`, { token: root.token })).body).toBe(true);
      const { body: messages } = await server.call(`GET ${at}`, { token: user.token });
      expect(messages).toMatchObject([{ content: 'edited', reply_count: 1 }]);
      await until('all events', () => listener.events.some(({ type }) => type === 'message:delete'));
      expect(listener.events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['message', 'message:update', 'message:delete']),
      );
      listener.close();
      const numbers = await database.query<{ id: string }>(
        'select id from channel_event where channel_id = $1 order by id',
        [channel.id],
      );
      expect(numbers.map(({ id }) => Number(id))).toEqual(numbers.map((_, i) => i + 1));
    });
  });
});
