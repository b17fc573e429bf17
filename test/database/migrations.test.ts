import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { migrate, openOrm } from '../../src/database/orm.ts';
import { entities } from '../../src/entities.ts';
import { createDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');

it('hold all that the entities say: the command-line tool of MikroORM finds nothing to add', async () => {
  const cli = join(ROOT, 'node_modules/.bin/mikro-orm');
  const { stdout } = await promisify(execFile)(cli, ['migration:check'], { cwd: ROOT });
  expect(stdout).toContain('No changes required');
});

it('run once, however many servers start at the same moment', async () => {
  const database = await createDatabase({ empty: true });
  const orms = await Promise.all(Array.from({ length: 5 }, () => openOrm(entities, { url: database.url })));
  await Promise.all(orms.map((orm) => migrate(orm)));
  const done = await database.query<{ name: string }>('select name from mikro_orm_migrations order by id');
  expect(done.map(({ name }) => name)).toEqual([...new Set(done.map(({ name }) => name))].toSorted());
  expect(done.length).toBeGreaterThan(1);
  await Promise.all(orms.map((orm) => orm.close(true)));
  await database.drop();
});

it('leave nothing behind when one fails, and run again when its cause is mended', async () => {
  const database = await createDatabase({ empty: true });
  // In the way of the last table of the first migration.
  await database.query('create table session (id int)');
  const orm = await openOrm(entities, { url: database.url });
  await expect(migrate(orm)).rejects.toThrow('relation "session" already exists');
  const tables = await database.query(`select tablename from pg_tables where schemaname = 'public'
    and tablename <> 'mikro_orm_migrations'`);
  expect(tables).toEqual([{ tablename: 'session' }]);
  await database.query('drop table session');
  await migrate(orm);
  expect(await database.query('select from users')).toEqual([]);
  await orm.close(true);
  await database.drop();
});
