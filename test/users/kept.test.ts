import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signIn, signUpAll } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

describe.skipIf(withoutRedis)('the own account (skipped without the Debian package redis-server)', () => {
  let pair: Pair;
  let root: Person;
  let ann: Person;

  beforeAll(async () => {
    pair = await startPair();
    [root, ann] = await signUpAll(pair.here, 'Root', 'Ann');
  });
  afterAll(() => pair.close());

  const read = async (server = pair.here) => (await server.as(ann)('GET /auths')).body;

  it('is read once in some seconds', async () => {
    await read();
    const statements = await recordStatements(async () => {
      for (let i = 0; i < 5; i++) await read();
    });
    expect(statements).toEqual([]);
  });

  const changes = [
    [
      'a new name',
      () => pair.here.as(ann)('POST /auths/update/profile', { name: 'Ann Other', profile_image_url: '' }),
      { name: 'Ann Other' },
    ],
    [
      'a status',
      () => pair.here.as(ann)('POST /users/user/status/update', { status_message: 'Away' }),
      { status_message: 'Away' },
    ],
    [
      'a change by an administrator',
      () => pair.here.as(root)(`POST /users/${ann.id}/update`, { name: 'Ann Third' }),
      { name: 'Ann Third' },
    ],
  ] as const;
  it.each(changes)('shows %s at once, and soon at another process', async (_what, change, shown) => {
    await Promise.all([read(), read(pair.there)]);
    expect((await change()).status).toBe(200);
    expect(await read()).toMatchObject(shown);
    await until('the other process', async () => {
      const there = await read(pair.there);
      return Object.entries(shown).every(([name, value]) => there[name] === value);
    });
  });

  it('loses a status when its time has come', async () => {
    const status_expires_at = Math.floor(Date.now() / 1000) + 1;
    await pair.here.as(ann)('POST /users/user/status/update', {
      status_message: 'Back soon',
      status_expires_at,
    });
    expect(await read()).toMatchObject({ status_message: 'Back soon', status_expires_at });
    await until('the end of the status', async () => (await read()).status_message === null);
    expect(await read()).toMatchObject({ status_expires_at: null });
  });

  it('shows a new role to a new session', async () => {
    await pair.here.as(root)(`POST /users/${ann.id}/update`, { name: 'Ann', role: 'admin' });
    ann = await signIn(pair.here, ann);
    expect((await read()).role).toBe('admin');
  });
});
