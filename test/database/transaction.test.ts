import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openOrm } from '../../src/database/orm.ts';
import { openSql, statement } from '../../src/database/sql.ts';
import { type Transaction, transaction } from '../../src/database/transaction.ts';
import { entities } from '../../src/entities.ts';
import { Group } from '../../src/groups/groups.entity.ts';
import { createDatabase } from '../support/database.ts';

const database = await createDatabase();
const orm = await openOrm(entities, { url: database.url });
const sql = await openSql(orm);
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(() => database.query('delete from user_group'));

const NAMES = statement<{ name: string }>('test.group_names', 'select name from user_group order by name');
const RENAME = statement<never, { from: string; to: string }>(
  'test.rename_group',
  'update user_group set name = :to where name = :from',
);
const names = async (on: Pick<Transaction, 'rows'> = sql) => (await on.rows(NAMES)).map(({ name }) => name);

function create(tx: Transaction, name: string): void {
  const id = crypto.randomUUID();
  tx.em.create(Group, { id, name, description: '', user_id: id, created_at: 1, updated_at: 1 });
}

describe('a transaction', () => {
  it('runs entities and statements, and commits pending changes', async () => {
    await transaction({ sql }, async (tx) => {
      create(tx, 'one');
      await tx.em.flush();
      await tx.rows(RENAME, { from: 'one', to: 'two' });
      expect(await names(tx)).toEqual(['two']);
      expect(await names()).toEqual([]);
      create(tx, 'three');
    });
    expect(await names()).toEqual(['three', 'two']);
  });

  it('is rolled back when the work throws', async () => {
    const work = transaction({ sql }, async (tx) => {
      create(tx, 'one');
      await tx.em.flush();
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await names()).toEqual([]);
    expect(sql.load()).toMatchObject({ waiting: 0 });
  });

  it('returns its connection when the connection breaks', async () => {
    const KILL = statement<unknown>('test.kill', 'select pg_terminate_backend(pg_backend_pid())');
    const broken = transaction({ sql }, async (tx) => {
      create(tx, 'one');
      await tx.em.flush();
      await tx.rows(KILL);
    });
    await expect(broken).rejects.toThrow();
    expect(await names()).toEqual([]);
    const { open, idle } = sql.load();
    expect(idle).toBe(open);
  });
});

it('a statement with a missing parameter is not sent', async () => {
  const given: { from: string; to: string } = JSON.parse('{"from":"one"}');
  await expect(sql.rows(RENAME, given)).rejects.toThrow('test.rename_group lacks the parameter to');
});

it('wrong parameters do not compile', () => {
  const calls = [
    // @ts-expect-error `to` is missing.
    () => sql.rows(RENAME, { from: 'one' }),
    // @ts-expect-error `too` is misspelt.
    () => sql.rows(RENAME, { from: 'one', too: 'two' }),
    // @ts-expect-error `at` is superfluous.
    () => sql.rows(RENAME, { from: 'one', to: 'two', at: 1 }),
    // @ts-expect-error `to` is a text.
    () => sql.rows(RENAME, { from: 'one', to: 2 }),
    // @ts-expect-error All are missing.
    () => sql.rows(RENAME),
  ];
  expect(calls).toHaveLength(5);
});
