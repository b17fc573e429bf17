import { afterAll, expect, it } from 'vitest';
import { openOrm } from '../../src/database/orm.ts';
import { type Database, openSql } from '../../src/database/sql.ts';
import { forgetOldTempIds } from '../../src/messages/messages.post.ts';
import { keepDeliveries } from '../../src/webhooks/deliveries/deliveries.store.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';

/** Old rows are deleted in batches: a statement lasts at most 20 s, and one for all of them may never end in time. */

const database = await createDatabase();
const orm = await openOrm([], { url: database.url });
const sql = await openSql(orm);
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});

const fail = (error: unknown) => {
  throw error;
};

/** The database, and how many rows each statement has deleted. */
function counting(): { counted: Database; counts: number[] } {
  const counts: number[] = [];
  const counted: Database = {
    ...sql,
    async rows(of: object, params: object = {}) {
      const rows = await sql.rows(of as never, params as never);
      counts.push((rows as { count: number }[])[0]?.count ?? 0);
      return rows as never;
    },
  };
  return { counted, counts };
}

const isEmpty = async (table: string) => (await database.query(`select from ${table} limit 1`)).length === 0;

it('ids of posts are forgotten a thousand at a time', async () => {
  const [id, at] = ['018f0000-0000-7000-8000-000000000000', '1700000000000000000'];
  await database.query(
    `insert into channel (id, user_id, name, created_at, updated_at) values ($1, $1, 'x', $2, $2)`,
    [id, at],
  );
  await database.query(
    `insert into message (channel_id, id, user_id, content, data, meta, created_at, updated_at)
     values ($1, $1, $1, 'x', '{}', '{}', $2, $2)`,
    [id, at],
  );
  await database.query(
    `insert into message_temp_id (channel_id, user_id, temp_id, message_id, created_at)
     select $1, $1, n, $1, $2::bigint from generate_series(1, 2500) n`,
    [id, at],
  );
  const { counted, counts } = counting();
  const cleaning = forgetOldTempIds(counted, fail);
  await until('all to be deleted', () => isEmpty('message_temp_id'));
  await cleaning.close();
  expect(counts).toEqual([1000, 1000, 500]);
});

it('deliveries are deleted a thousand at a time', async () => {
  await database.query(
    `insert into delivery (id, url, payload, created_at, updated_at)
     select gen_random_uuid(), '', '{}', 0, 0 from generate_series(1, 2500)`,
  );
  const { counted, counts } = counting();
  const deliveries = keepDeliveries({ sql: counted, secret: 'x'.repeat(32), onError: fail });
  await until('all to be deleted', () => isEmpty('delivery'));
  await deliveries.close();
  expect(counts).toEqual([1000, 1000, 500]);
});
