import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { migrate, openOrm } from '../../src/database/orm.ts';
import { entities } from '../../src/entities.ts';
import { installQueue } from '../../src/jobs/install.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';

const ROOT = join(import.meta.dirname, '../..');

it('match the entities: the command-line tool of MikroORM finds nothing to add', async () => {
  const cli = join(ROOT, 'node_modules/.bin/mikro-orm');
  const { stdout } = await promisify(execFile)(cli, ['migration:check'], { cwd: ROOT });
  expect(stdout).toContain('No changes required');
});

it('run once when several servers start at the same moment', async () => {
  const database = await createDatabase({ empty: true });
  const orms = await Promise.all(Array.from({ length: 5 }, () => openOrm(entities, { url: database.url })));
  await Promise.all(orms.map((orm) => migrate(orm, installQueue)));
  const done = await database.query<{ name: string }>('select name from mikro_orm_migrations order by id');
  expect(done.map(({ name }) => name)).toEqual([...new Set(done.map(({ name }) => name))].toSorted());
  expect(done.length).toBeGreaterThan(1);
  await Promise.all(orms.map((orm) => orm.close(true)));
  await database.drop();
});

it('give messages of webhooks and models their authors, and undo that', async () => {
  const database = await createDatabase();
  const orm = await openOrm(entities, { url: database.url });
  const names = (await orm.migrator.getExecuted()).map(({ name }) => name);
  const before = names[names.findIndex((name) => name.endsWith('_message_authors')) - 1] ?? '';
  await orm.migrator.down({ to: before });
  const webhook = '018f0000-0000-7000-8000-00000000000b';
  await database.query(`insert into channel (id, user_id, name, created_at, updated_at)
    values ('018f0000-0000-7000-8000-00000000000a', gen_random_uuid(), 'c', 1, 1)`);
  await database.query(
    `insert into message (channel_id, id, user_id, content, data, meta, created_at, updated_at, webhook_id)
     select '018f0000-0000-7000-8000-00000000000a', gen_random_uuid(), gen_random_uuid(), n::text, '{}',
            case n when 3 then '{"model_id": "gpt-4o"}' else '{}' end::jsonb, n, n, case n when 2 then $1::uuid end
       from generate_series(1, 3) n`,
    [webhook],
  );
  const authors = () =>
    database.query('select content, author_type, author_id from message order by content');
  const expected = [
    { content: '1', author_type: 'user', author_id: null },
    { content: '2', author_type: 'webhook', author_id: webhook },
    { content: '3', author_type: 'model', author_id: 'gpt-4o' },
  ];
  await orm.migrator.up();
  expect(await authors()).toEqual(expected);
  await orm.migrator.down({ to: before });
  await orm.migrator.up();
  expect(await authors()).toEqual(expected);
  await orm.close(true);
  await database.drop();
});

it('leave nothing behind when one fails, and run again when its cause is removed', async () => {
  const database = await createDatabase({ empty: true });
  // In the way of the last table of the first migration.
  await database.query('create table session (id int)');
  const orm = await openOrm(entities, { url: database.url });
  await expect(migrate(orm, installQueue)).rejects.toThrow('relation "session" already exists');
  const tables = await database.query(`select tablename from pg_tables where schemaname = 'public'
    and tablename <> 'mikro_orm_migrations'`);
  expect(tables).toEqual([{ tablename: 'session' }]);
  await database.query('drop table session');
  await migrate(orm, installQueue);
  expect(await database.query('select from users')).toEqual([]);
  await orm.close(true);
  await database.drop();
});

it('let calls pass while they wait for a table that is in use', async () => {
  const database = await createDatabase();
  const orm = await openOrm(entities, { url: database.url });
  const names = (await orm.migrator.getExecuted()).map(({ name }) => name);
  const at = names.findIndex((name) => name.endsWith('_reply_questions'));
  await orm.migrator.down({ to: names[at - 1] ?? '' });
  // The migration needs a lock that conflicts with writes to `model_reply`, as those of calls.
  const use = 'lock table model_reply in row exclusive mode';
  const migrated = await withClient(database.url, async (long) => {
    await long.query('begin');
    await long.query(use);
    const migrating = migrate(orm, installQueue);
    await until('the migration to wait', async () => {
      const [row] = await database.query(
        `select from pg_locks where not granted and relation = 'model_reply'::regclass`,
      );
      return row !== undefined;
    });
    await withClient(database.url, async (call) => {
      await call.query('begin');
      await call.query(use);
    });
    await long.query('commit');
    return migrating;
  });
  expect(migrated).toBeUndefined();
  expect(await orm.migrator.getPending()).toEqual([]);
  await orm.close(true);
  await database.drop();
});
