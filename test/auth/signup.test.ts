import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type TestDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { PASSWORD, PROXY, signUp, startServer, type TestServer } from '../support/server.ts';

const register = (server: TestServer, body: unknown, headers = {}) =>
  server.call('POST /auths/signup', { body, headers });
const ADA = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };

/** Starts calls, and blocks the insertion of accounts until many calls wait for it. */
async function whileInsertsWait<T>(database: TestDatabase, start: () => Promise<T>[]): Promise<T[]> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return withClient(database.url, async (holder) => {
    await holder.query('begin');
    await holder.query('lock table users in share row exclusive mode');
    const calls = start();
    await until('many to wait', async () => (await database.query(waiting)).length >= 15);
    await holder.query('commit');
    return Promise.all(calls);
  });
}

describe('the first accounts of a server', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer({ env: PROXY.env });
  });
  afterEach(() => server.close());

  it('include one administrator, even when many sign up at the same moment', async () => {
    // From different networks: the calls of one network hold at most four of ten database connections.
    const from = (i: number) => ({ ...PROXY.headers, 'x-forwarded-for': `198.51.100.${i}` });
    const answers = await whileInsertsWait(server.database, () =>
      Array.from({ length: 50 }, (_, i) =>
        register(server, { ...ADA, email: `person${i}@example.com` }, from(i)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    const roles = answers.map(({ body }) => body.role);
    expect(roles.filter((role) => role === 'admin')).toHaveLength(1);
    expect(roles.filter((role) => role === 'pending')).toHaveLength(49);
    const stored = await server.database.query<{ role: string; n: number }>(
      'select role, count(*)::int as n from users group by role order by role',
    );
    expect(stored).toEqual([
      { role: 'admin', n: 1 },
      { role: 'pending', n: 49 },
    ]);
  });

  it('are one for one address, even when many sign up with it at the same moment', async () => {
    const spellings = ['ada@example.com', 'ADA@example.com', ' Ada@Example.COM ', 'aDa@example.com'];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => register(server, { ...ADA, email: spellings[i % 4] })),
    );
    const refused = answers.filter(({ status }) => status === 400);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(refused.map(({ body }) => body.code)).toEqual(Array(11).fill('email_taken'));
  });

  it('leave sign-up open, and later accounts get the configured role', async () => {
    await signUp(server, 'Ada');
    const { status, body } = await register(server, { ...ADA, email: 'grace@example.com' });
    expect([status, body.role]).toEqual([200, 'pending']);
  });
});

describe('sign-up', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    await signUp(server, 'Root');
  });
  afterAll(() => server.close());

  it('answers with the account, a working token, and nothing about the password', async () => {
    const { status, body } = await register(server, ADA);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      token_type: 'Bearer',
      email: 'ada@example.com',
      name: 'Ada',
      role: 'pending',
      profile_image_url: `/api/v1/users/${body.id}/profile/image`,
      permissions: { workspace: { tools: false }, features: { channels: true } },
    });
    const members =
      'created_at email expires_at id last_active_at name permissions profile_image_url role token token_type';
    expect(Object.keys(body).toSorted()).toEqual([...members.split(' '), 'updated_at', 'username']);
    expect(body).toMatchObject({
      username: null,
      last_active_at: body.created_at,
      updated_at: body.created_at,
    });
    expect(body.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const me = await server.call('GET /auths/', { token: body.token });
    expect(me.body).toMatchObject(body);
    const [row] = await server.database.query<{ password_hash: string }>(
      'select password_hash from users where id = $1',
      [body.id],
    );
    expect(row?.password_hash).toMatch(/^\$argon2id\$/);
  });

  it.each([
    ['capitals', 'CASE@Example.COM', 'case@example.com'],
    ['white space around it', '  space@example.com\t', 'space@example.com'],
    ['a decomposed letter', 'zoe\u0301@example.com', 'zo\u00e9@example.com'],
    ['a capital whose small letter has a composed form', 'J\u030cx@example.com', '\u01f0x@example.com'],
    ['localhost', 'me@localhost', 'me@localhost'],
    ['a tag', 'me+tag@sub.example.com', 'me+tag@sub.example.com'],
  ])('stores an address with %s in one spelling', async (_what, email, stored) => {
    const { status, body } = await register(server, { ...ADA, email });
    expect([status, body.email]).toEqual([200, stored]);
    expect((await register(server, { ...ADA, email: stored })).body.code).toBe('email_taken');
  });

  it.each([
    'none', 'a@b', '@example.com', 'a@', 'a@b@example.com', 'a b@example.com', 'a@exam ple.com', 'a@example.com.',
    '<a@example.com>', '"a"@example.com', `${'a'.repeat(250)}@example.com`, '', 'a\u0007@example.com',
  ])('refuses %j as an address', async (email) => {
    const { status, body } = await register(server, { ...ADA, email });
    expect([status, body.code]).toEqual([400, 'email_invalid']);
  }); // biome-ignore format: one list

  it.each([
    ['NUL in the name', { name: 'A\u0000da' }, 'name'],
    ['NUL in the address', { email: 'a\u0000@example.com' }, 'email'],
    ['NUL in the password', { password: 'secret\u0000secret' }, 'password'],
    ['a lone surrogate in the name', { name: 'A\ud800' }, 'name'],
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a long name', { name: 'a'.repeat(257) }, 'name'],
    ['a number as the name', { name: 1 }, 'name'],
    ['an object as the address', { email: { $ne: null } }, 'email'],
    ['a list as the password', { password: ['a'] }, 'password'],
    ['no password', { password: undefined }, 'password'],
    ['an empty password', { password: '' }, 'password'],
    ['a password over 1 KiB', { password: 'a'.repeat(1025) }, 'password'],
    ['a long address', { email: `${'a'.repeat(400)}@example.com` }, 'email'],
    ['a picture of another server', { profile_image_url: 'http://example.com/me.png' }, 'profile_image_url'],
  ])('refuses %s and names it', async (_what, change, member) => {
    const { status, body } = await register(server, { ...ADA, email: 'other@example.com', ...change });
    expect([status, body.code]).toEqual([400, 'validation']);
    expect(body.issues[0].path).toBe(member);
    expect(body.detail).toMatch(new RegExp(`^${member}: `));
  });

  it('refuses a body over the limit without reading it to the end', async () => {
    const { status, body } = await register(server, { ...ADA, password: 'a'.repeat(5 * 1024 * 1024) });
    expect([status, body.code]).toEqual([413, 'too_large']);
  });

  it('ignores unknown members, and names them', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const { status, body, headers } = await register(server, {
      ...ADA,
      email: 'mallory@example.com',
      id,
      role: 'admin',
      created_at: 1,
      password_hash: 'x',
      ordinal: -1,
    });
    expect([status, body.role]).toEqual([200, 'pending']);
    expect(body.id).not.toBe(id);
    expect(headers.get('x-ignored-members')?.split(', ').toSorted()).toEqual(
      ['created_at', 'id', 'ordinal', 'password_hash', 'role'],
    ); // biome-ignore format: one list
  });

  it.each(['PATCH', 'PUT', 'DELETE', 'GET'])('answers %s with the allowed methods', async (method) => {
    const { status, headers } = await server.call(`${method} /auths/signup`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});
