import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Person, signIn, signUp, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

const PEOPLE = 500;

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');

beforeAll(async () => {
  await signUp(server, 'Waiting');
  // Names repeat, so that every order has ties.
  await server.database.query(
    `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
     select gen_random_uuid(), 'p' || i || '@people.org', 'Person ' || i % 7, case when i % 3 = 0 then 'pending' else 'user' end,
            repeat('x', 100000), i % 5, 0, 0 from generate_series(1, ${PEOPLE}) i`,
  );
});

interface Listed {
  id: string;
  name: string;
  email: string | null;
  role?: string;
}

async function walk(person: Person, path: string, query: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await as(person)(`GET ${path}?${query}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    expect('total' in body).toBe(cursor === '');
    found.push(...body.users);
    if (body.next_cursor === null) return found;
    cursor = body.next_cursor;
  }
}

describe('the list of accounts', () => {
  it('holds the accounts of one role, with the ways to sign in', async () => {
    const pending = await walk(root, '/users', 'role=pending&limit=100');
    expect(new Set(pending.map(({ role }) => role))).toEqual(new Set(['pending']));
    const { body } = await as(root)('GET /users?role=pending&limit=1');
    expect(body.total).toBe(pending.length);
    expect((await as(root)('GET /users?role=admin')).body.users.map(({ id }: Listed) => id)).toEqual([
      root.id,
    ]);
    await server.database.query(
      `insert into identity (issuer, subject, user_id, created_at) values ('https://id.example.com', 'x', $1, 0)`,
      [ann.id],
    );
    const sign_in = ['password', 'https://id.example.com'];
    expect((await as(root)(`GET /users?query=${ann.email}`)).body.users[0]).toMatchObject({ sign_in });
    expect((await as(root)(`GET /users/${ann.id}`)).body).toMatchObject({ sign_in });
  });

  it.each(
    ['created_at', 'updated_at', 'name', 'email', 'role', 'last_active_at', 'group_id:none'].flatMap(
      (order) => [
        [order, 'asc'],
        [order, 'desc'],
      ],
    ),
  )('by %s %s has each account once, page by page and by page number', async (order, direction) => {
    const query = `order_by=${order}&direction=${direction}&limit=190`;
    const [walked, numbered] = await withClient(server.database.url, async (client) => {
      // The time of the last activity is noted every half minute, which must not happen in the middle.
      await client.query('begin');
      await client.query('lock table users in share mode');
      const byCursor = (await walk(root, '/users', query)).map(({ id }) => id);
      const byNumber: string[] = [];
      for (const page of [1, 2, 3, 4]) {
        const { body } = await as(root)(`GET /users?${query}&page=${page}`);
        expect(body.total).toBe(PEOPLE + 4);
        byNumber.push(...body.users.map(({ id }: Listed) => id));
      }
      return [byCursor, byNumber];
    });
    expect(walked).toHaveLength(PEOPLE + 4);
    expect(new Set(walked).size).toBe(PEOPLE + 4);
    expect(numbered).toEqual(walked);
  });

  it('may be sorted by membership of a group only for administrators: members first', async () => {
    const { body: group } = await as(root)('POST /groups/create', { name: 'ordered', description: '' });
    const [, second] = (await as(root)('GET /users?limit=2&direction=asc')).body.users;
    await as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [second.id] });
    const order = `order_by=group_id:${group.id}`;
    const first = async (query: string) => (await as(root)(`GET /users?limit=1&${query}`)).body.users[0].id;
    expect(await first(order)).toBe(second.id);
    expect(await first(`${order}&query=${second.email}`)).toBe(second.id);
    expect(await first(`${order}&direction=asc`)).not.toBe(second.id);
    const member = await signUpAs(server, root, 'Member', 'user');
    expect((await as(member)(`GET /users/search?${order}`)).status).toBe(403);
    await as(root)(`DELETE /users/${member.id}`);
  });

  it('continues at its place when accounts are created and deleted meanwhile', async () => {
    const { body: first } = await as(root)('GET /users?limit=2');
    const late = await signUp(server, 'Late');
    const { body: second } = await as(root)(`GET /users?limit=2&cursor=${first.next_cursor}`);
    await server.call(`DELETE /users/${late.id}`, { token: root.token });
    const { body: both } = await as(root)('GET /users?limit=4');
    const ids = (users: Listed[]) => users.map(({ id }) => id);
    expect([...ids(first.users), ...ids(second.users)]).toEqual(ids(both.users));
  });

  it('takes two statements, and shows pictures by their paths', async () => {
    const statements = await recordStatements(() => as(root)('GET /users?page=3&order_by=name'));
    expect(statements).toHaveLength(2);
    const { body } = await as(root)('GET /users?query=p1@people.org');
    expect(body.users[0].profile_image_url).toBe(`/api/v1/users/${body.users[0].id}/profile/image`);
    expect(body.users[0].group_ids).toEqual([]);
  });

  it.each([
    'order_by=password_hash',
    'direction=up',
    'limit=0',
    'limit=201',
    'cursor=x',
    `cursor=${Buffer.from('["a",1]').toString('base64url')}`,
    `cursor=${Buffer.from('[1,1e300]').toString('base64url')}`,
    `cursor=${Buffer.from('[99999999999,1]').toString('base64url')}`,
    `order_by=name&cursor=${Buffer.from('["\\u0000",1]').toString('base64url')}`,
    `order_by=name&cursor=${Buffer.from('[1,1]').toString('base64url')}`,
    `cursor=${Buffer.from('null').toString('base64url')}`,
  ])('refuses %s', async (query) => {
    const { status, body } = await as(root)(`GET /users?${query}`);
    expect([status, body.code]).toEqual([400, 'validation']);
  });

  it('requires an administrator, and so does the list of all people', async () => {
    for (const path of ['/users', '/users/all', `/users/${ben.id}`]) {
      expect((await as(ann)(`GET ${path}`)).status).toBe(403);
      expect((await server.call(`GET ${path}`)).status).toBe(401);
    }
    const { body } = await as(root)('GET /users/all');
    expect([body.total, body.users.length]).toEqual([PEOPLE + 4, PEOPLE + 4]);
  });
});

describe('people', () => {
  const search = async (person: Person, query: string) =>
    (await as(person)(`GET /users/search?query=${encodeURIComponent(query)}`)).body;

  it('find full accounts by name, or by their whole address', async () => {
    expect((await search(ann, 'BEN')).users).toEqual([
      {
        id: ben.id,
        name: 'Ben',
        email: null,
        role: 'user',
        bio: null,
        groups: [],
        is_active: expect.any(Boolean),
        status_emoji: null,
        status_message: null,
        status_expires_at: null,
      },
    ]);
    expect((await search(ann, 'Ben@Example.com')).total).toBe(1);
    for (const part of ['ben@', '@example.com', 'example', '%', '_', 'Waiting', 'waiting@example.com']) {
      expect((await search(ann, part)).total).toBe(0);
    }
    const everybody = await walk(ann, '/users/search', 'limit=200');
    expect(everybody.every(({ email }) => email === null)).toBe(true);
    expect(everybody).toHaveLength(3 + PEOPLE - Math.floor(PEOPLE / 3));
  });

  it('are found by administrators also by parts of addresses, and while they are pending', async () => {
    expect((await search(root, 'ben@')).users[0]).toMatchObject({ id: ben.id, email: 'ben@example.com' });
    expect((await search(root, 'Waiting')).total).toBe(1);
    expect((await search(root, '@people.org')).total).toBe(PEOPLE);
  });

  it('see only the groups of another user that they share', async () => {
    const make = async (name: string, ...members: Person[]) => {
      const { body } = await server.call('POST /groups/create', {
        token: root.token,
        body: { name, description: '' },
      });
      const user_ids = members.map(({ id }) => id);
      await server.call(`POST /groups/id/${body.id}/users/add`, { token: root.token, body: { user_ids } });
    };
    await make('both', ann, ben);
    await make('only ben', ben);
    const seenBy = async (person: Person) => (await as(person)(`GET /users/${ben.id}/info`)).body;
    const names = ({ groups }: { groups: { name: string }[] }) => groups.map(({ name }) => name);
    expect(names(await seenBy(ann))).toEqual(['both']);
    expect(names(await seenBy(ben))).toEqual(['both', 'only ben']);
    expect(names(await seenBy(root))).toEqual(['both', 'only ben']);
    expect([(await seenBy(ann)).email, (await seenBy(ben)).email]).toEqual([null, 'ben@example.com']);
    const { body } = await as(root)(`GET /users/${ben.id}`);
    expect(names(body)).toEqual(['both', 'only ben']);
  });

  it('cannot see pending and unknown accounts', async () => {
    const waiting = (await search(root, 'Waiting')).users[0].id;
    for (const id of [waiting, '00000000-0000-4000-8000-000000000000']) {
      expect((await as(ann)(`GET /users/${id}/info`)).status).toBe(404);
      expect((await as(ann)(`GET /users/${id}/active`)).body).toEqual({ active: false });
    }
    expect((await as(root)(`GET /users/${waiting}/info`)).status).toBe(200);
    expect((await as(ann)(`GET /users/${ben.id}/active`)).body).toEqual({ active: expect.any(Boolean) });
    expect((await server.call(`GET /users/${ben.id}/active`)).status).toBe(401);
  });
});

it('may search four times at once, and leave connections for others', async () => {
  // The session is cached for half a minute, so only the calls themselves wait.
  const session = await signIn(server, root);
  const search = () => as(session)('GET /users/search?query=person');
  expect((await search()).status).toBe(200);
  await withClient(server.database.url, async (client) => {
    await client.query('begin');
    await client.query('lock table users in access exclusive mode');
    const answers = Array.from({ length: 6 }, search);
    const refused: string[] = [];
    for (const answer of answers)
      void answer.then(({ status, body }) => status === 429 && refused.push(body.detail));
    const detail = 'At most 4 searches for people at once. Wait until one of them has ended.';
    await until('two to be refused', () => refused.length === 2);
    expect(refused).toEqual([detail, detail]);
    await client.query('rollback');
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429, 429]);
  });
  expect((await search()).status).toBe(200);
});
