import { expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';

it('a stop lets a running call finish, and accepts no new ones', async () => {
  const database = await createDatabase();
  const server = await startServer({ database });
  const root = await signUp(server, 'Root');
  await withClient(database.url, async (holder) => {
    await holder.query('begin');
    await holder.query('select from users for update');
    const update = server.call(`POST /users/${root.id}/update`, {
      token: root.token,
      body: { name: 'Changed' },
    });
    await until('the call to wait for the database', async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await database.query(waiting)).length > 0;
    });
    const closed = server.close();
    await until('new calls to be refused', () =>
      fetch(`${server.url}/health`).then(
        ({ status }) => status === 503,
        () => true,
      ),
    );
    await holder.query('rollback');
    const { status, body } = await update;
    expect([status, body.name]).toEqual([200, 'Changed']);
    await closed;
  });
  expect(await database.query('select name from users')).toEqual([{ name: 'Changed' }]);
  await database.drop();
});
