import { afterAll, describe, expect, it } from 'vitest';
import { PASSWORD, signUp, signUpAs, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const root = await signUp(server, 'Root');

const ADA = { email: 'Ada@Example.com', name: 'Ada', password: PASSWORD };
const create = (body: unknown) => server.call('POST /users', { token: root.token, body });
const update = (id: string, body: unknown, token = root.token) =>
  server.call(`POST /users/${id}/update`, { token, body });

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('creating an account', () => {
  it('answers 201 with the account, and nothing else', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { status, body } = await create({ ...ADA, username: 'ada', oauth: { google: { sub: '1' } } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'ada@example.com',
      username: 'ada',
      role: 'pending',
      name: 'Ada',
      profile_image_url: `/api/v1/users/${body.id}/profile/image`,
      last_active_at: body.created_at,
      updated_at: body.created_at,
      created_at: expect.any(Number),
    });
    expect(body.created_at).toBeGreaterThanOrEqual(before);
    expect((await server.call(`GET /users/${body.id}`, { token: root.token })).body).toMatchObject(body);
    const signIn = await server.call('POST /auths/signin', {
      body: { email: ADA.email, password: PASSWORD },
    });
    expect(signIn.body.id).toBe(body.id);
  });

  it('works under both prefixes, with and without a trailing slash', async () => {
    for (const [i, path] of ['/api/users', '/api/users/', '/api/v1/users', '/api/v1/users/'].entries()) {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${root.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ADA, email: `prefix${i}@example.com` }),
      });
      expect(response.status).toBe(201);
    }
  });

  it.each(['admin', 'user', 'pending'])('accepts the role %s', async (role) => {
    const { body } = await create({ ...ADA, email: `${role}.role@example.com`, role });
    expect(body.role).toBe(role);
  });

  it('refuses an invalid role, a taken address, and an invalid account', async () => {
    expect((await create({ ...ADA, email: 'x@example.com', role: 'root' })).body.issues[0].path).toBe('role');
    expect((await create({ ...ADA, email: ' ADA@example.com' })).body.code).toBe('email_taken');
    expect((await create({ ...ADA, email: 'nothing' })).body.code).toBe('email_invalid');
    expect((await create({})).body.issues.map(({ path }: { path: string }) => path)).toEqual(
      ['email', 'name', 'password'],
    ); // biome-ignore format: one list
  });

  it('requires an administrator', async () => {
    const user = await signUpAs(server, root, 'Plain', 'user');
    const answer = await server.call('POST /users', { token: user.token, body: ADA });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  });
});

describe('the picture of an account', () => {
  it.each(['/user.png', '', '/api/v1/users/00000000-0000-4000-8000-000000000000/profile/image'])(
    'is its own path for %j, at creation and later',
    async (profile_image_url) => {
      const { status, body } = await create({
        ...ADA,
        email: `${crypto.randomUUID()}@example.com`,
        profile_image_url,
      });
      const own = `/api/v1/users/${body.id}/profile/image`;
      expect([status, body.profile_image_url]).toEqual([201, own]);
      await update(body.id, { profile_image_url: PIXEL });
      expect((await update(body.id, { profile_image_url })).body.profile_image_url).toBe(own);
    },
  );

  it.each([
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'data:image/png;base64,AAAA" onerror="alert(1)',
    'data:image/png,<svg>',
    'data:image/png;base64,AAAA',
    `data:image/png;base64,${Buffer.from('<svg onload=alert(1)>').toString('base64')}`,
    `${PIXEL.slice(0, -8)}PHN2Zz4=`,
    'DATA:image/svg+xml;base64,AAAA',
    'data:text/html;base64,AAAA',
    'javascript:alert(1)',
    'http://example.com/me.png',
    '//example.com/me.png',
    '/api/v1/users/../../secret',
    '/user.png?x=1',
    `data:image/png;base64,${'A'.repeat(1024 * 1024)}`,
  ])('is never %s', async (profile_image_url) => {
    const created = await create({ ...ADA, email: 'svg@example.com', profile_image_url });
    const updated = await update(root.id, { profile_image_url });
    for (const { status, body } of [created, updated]) {
      expect([status, body.issues?.[0].path]).toEqual([400, 'profile_image_url']);
    }
  });
});

it('a malformed id is no account', async () => {
  for (const word of ['usage', NOBODY]) {
    expect((await server.call(`GET /users/${word}`, { token: root.token })).status).toBe(404);
    expect((await server.call(`GET /users/${word}`)).status).toBe(401);
  }
});

describe('the list of accounts', () => {
  it('is newest first, thirty a page, with the total', async () => {
    const other = await startServer();
    const administrator = await signUp(other, 'Root');
    const values = Array.from(
      { length: 64 },
      (_, i) => `('${crypto.randomUUID()}', 'p${i}@example.com', 'P${i}')`,
    );
    await other.database.query(
      `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
       select id::uuid, email, name, 'user', '', 0, 0, 0 from (values ${values.join(', ')}) as v (id, email, name)`,
    );
    const page = async (query: string) =>
      (await other.call(`GET /users${query}`, { token: administrator.token })).body;
    const pages = [await page(''), await page('?page=2'), await page('?page=3'), await page('?page=4')];
    expect(pages.map(({ total }) => total)).toEqual([65, 65, 65, 65]);
    expect(pages.map(({ users }) => users.length)).toEqual([30, 30, 5, 0]);
    const names = pages.flatMap(({ users }) => users.map(({ name }: { name: string }) => name));
    expect(names).toEqual([...Array.from({ length: 64 }, (_, i) => `P${63 - i}`), 'Root']);
    expect(pages[0].users[0]).not.toHaveProperty('password_hash');
    expect(pages[0].users[0]).not.toHaveProperty('ordinal');
    await other.close();
  });

  it.each([
    ['%', ['per%cent']],
    ['_', ['under_score']],
    ['\\', ['back\\slash']],
    ["'", ["o'brien"]],
    ['ärger', ['ÄRGER']],
    ['ÄRG', ['ÄRGER']],
    ['SCORE@EXAMPLE', ['under_score']],
    ['er_s', ['under_score']],
    ['no such', []],
  ])('finds %j literally, in any case, in names and addresses', async (query, names) => {
    for (const name of ['per%cent', 'under_score', 'back\\slash', "o'brien", 'ÄRGER']) {
      const email =
        name === 'under_score' ? 'underscore@example.com' : `${Buffer.from(name).toString('hex')}@x.org`;
      await create({ ...ADA, email, name });
    }
    const { body } = await server.call(`GET /users?query=${encodeURIComponent(query)}`, {
      token: root.token,
    });
    expect(body.users.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(body.total).toBe(names.length);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=99999999999999999999',
    `query=${'a'.repeat(300)}`,
  ])('refuses %s', async (query) => {
    const { status, body } = await server.call(`GET /users?${query}`, { token: root.token });
    expect([status, body.code]).toEqual([400, 'validation']);
  });
});

describe('changing an account', () => {
  it('changes only the sent members', async () => {
    const { body: ada } = await create({ ...ADA, email: 'change@example.com', username: 'kept' });
    const changes = { name: 'Ada Lovelace', email: 'Lovelace@Example.com', role: 'user' };
    const { status, body } = await update(ada.id, { ...changes, created_at: 1, username: 'other' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...ada, ...changes, email: 'lovelace@example.com', updated_at: body.updated_at });
    expect(body.updated_at).toBeGreaterThanOrEqual(ada.updated_at);
  });

  it('refuses the address of another account, in any spelling, and changes nothing', async () => {
    const { body: grace } = await create({ ...ADA, email: 'grace@example.com', name: 'Grace' });
    const { status, body } = await update(grace.id, { name: 'Changed', email: 'ROOT@example.com' });
    expect([status, body.code]).toEqual([400, 'email_taken']);
    expect((await server.call(`GET /users/${grace.id}`, { token: root.token })).body).toMatchObject(grace);
    expect((await update(grace.id, { email: 'GRACE@example.com' })).status).toBe(200);
  });

  it('answers 404 for an unknown and a malformed id', async () => {
    expect((await update(NOBODY, { name: 'x' })).body.code).toBe('not_found');
    expect((await server.call(`GET /users/${NOBODY}`, { token: root.token })).status).toBe(404);
    expect((await server.call(`DELETE /users/${NOBODY}`, { token: root.token })).status).toBe(404);
    expect((await server.call('GET /users/1%00', { token: root.token })).status).toBe(404);
  });
});

describe('deleting an account', () => {
  it('deletes its grants and keeps its messages', async () => {
    const person = await signUpAs(server, root, 'Author', 'user');
    const { body: channel } = await server.call('POST /channels/create', {
      token: root.token,
      body: {
        name: 'general',
        access_grants: [
          { principal_type: 'user', principal_id: person.id, permission: 'write' },
          { principal_type: 'user', principal_id: root.id, permission: 'write' },
        ],
      },
    });
    const { status } = await server.call(`POST /channels/${channel.id}/messages/post`, {
      token: person.token,
      body: { content: 'stays' },
    });
    expect(status).toBe(200);
    expect((await server.call(`DELETE /users/${person.id}`, { token: root.token })).body).toBe(true);
    expect((await server.call(`GET /users/${person.id}`, { token: root.token })).status).toBe(404);
    const grants = await server.database.query(
      'select principal_id from access_grant where principal_id = $1',
      [person.id],
    );
    expect(grants).toEqual([]);
    const { body: messages } = await server.call(`GET /channels/${channel.id}/messages`, {
      token: root.token,
    });
    expect(messages).toMatchObject([{ content: 'stays', user_id: person.id }]);
    expect((await server.call(`DELETE /users/${person.id}`, { token: root.token })).status).toBe(404);
  });

  it('frees the address', async () => {
    const first = await signUp(server, 'Again');
    await server.call(`DELETE /users/${first.id}`, { token: root.token });
    const second = await signUp(server, 'Again');
    expect(second.id).not.toBe(first.id);
  });
});

it.each(['PUT', 'PATCH'])('answers that %s is not a method of an account', async (method) => {
  const { status, headers, body } = await server.call(`${method} /users/${root.id}`, {
    token: root.token,
    body: {},
  });
  expect([status, body.code]).toEqual([405, 'method_not_allowed']);
  expect(headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'DELETE']));
});
