import { afterAll, describe, expect, it } from 'vitest';
import { administer } from '../configs/support.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { signIn, signUp, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

let names = 0;

const keysOn = (mayAll = true) =>
  config.configure(({ auth, user }) => {
    auth.enable_api_keys = true;
    user.permissions = { ...user.permissions, features: { ...user.permissions.features, api_keys: mayAll } };
  });

const server = await startServer();
afterAll(() => server.close());
const [root, ada, bob] = await signUpAll(server, 'Root', 'Ada', 'Bob');
const config = administer(server, root);
await keysOn();

const create = ({ token }: { token: string }, body: object = {}) =>
  server.call('POST /auths/api_keys', { token, body: { name: `key ${++names}`, ...body } });
const list = ({ token }: { token: string }) => server.call('GET /auths/api_keys', { token });
const who = (token: string) => server.call('GET /auths', { token });
const revoke = ({ token }: { token: string }, id: string) =>
  server.call(`DELETE /auths/api_keys/${id}`, { token });

async function arrive(token: string) {
  const presence = await tryToArrive(token);
  presence.isIn();
  return presence;
}

async function tryToArrive(token: string) {
  const sockets = [await listenBySocketIo(server.url, token), await listenByTrpc(server.url, token)];
  const isIn = () => expect(sockets.map(({ ended }) => ended)).toEqual([undefined, undefined]);
  return {
    isIn,
    hasEnded: () => sockets.some(({ ended }) => ended !== undefined),
    async gone() {
      await until('both sockets to end', () => sockets.every(({ ended }) => ended !== undefined));
      for (const socket of sockets) socket.close();
    },
    stays() {
      isIn();
      for (const socket of sockets) socket.close();
    },
  };
}

describe('an API key', () => {
  it('is shown once, works as its owner, and is stored only as a hash', async () => {
    const { status, body } = await create(ada, { name: 'the script' });
    expect(status).toBe(200);
    expect(body.api_key).toMatch(/^sk-[0-9a-f]{64}$/);
    expect(body.masked).toBe(`sk-...${body.api_key.slice(-4)}`);
    expect((await who(body.api_key)).body).toMatchObject({ id: ada.id, role: 'user', token: body.api_key });

    const listed = await list(ada);
    expect(listed.body).toContainEqual({
      id: body.id,
      name: 'the script',
      masked: body.masked,
      allowed_endpoints: null,
      expires_at: null,
      last_used_at: null,
      created_at: body.created_at,
    });
    const rows = await server.database.query('select to_jsonb(k)::text as row from api_key k');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(body.api_key.slice(3));
  });

  it('has a name that is unique for its owner', async () => {
    const taken = await create(ada, { name: 'twice' });
    const again = await create(ada, { name: ' twice ' });
    expect([taken.status, again.status, again.body.code]).toEqual([200, 400, 'name_taken']);
    expect((await create(bob, { name: 'twice' })).status).toBe(200);
    const together = await Promise.all(Array.from({ length: 5 }, () => create(ada, { name: 'at once' })));
    expect(together.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
  });

  it('counts to a limit, also when many are made at once', async () => {
    const person = await signUpAs(server, root, 'Collector', 'user');
    await server.database.query(
      `insert into api_key (id, user_id, name, hash, tail, created_at)
       select gen_random_uuid(), $1, 'old ' || n, 'hash ' || n, 'tail', 0 from generate_series(1, 98) n`,
      [person.id],
    );
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(person)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400, 400, 400]);
  });

  it.each([
    ['no name', { name: undefined }],
    ['an empty name', { name: '  ' }],
    ['a name that is too long', { name: 'x'.repeat(101) }],
    ['a name with NUL', { name: 'a\0b' }],
    ['a time in the past', { expires_at: 1_000_000_000 }],
    ['a time that is no number', { expires_at: 'tomorrow' }],
    ['a time out of reach', { expires_at: 2 ** 31 }],
    ['an empty list of endpoints', { allowed_endpoints: [] }],
    ['an endpoint that is no path', { allowed_endpoints: ['channels'] }],
    ['an endpoint of another server', { allowed_endpoints: ['https://example.com/api'] }],
    ['an endpoint with escapes', { allowed_endpoints: ['/api/v1/%63hannels'] }],
    ['two endpoints in one text', { allowed_endpoints: ['/api/v1/tools,/api/v1/users'] }],
    ['too many endpoints', { allowed_endpoints: Array(101).fill('/api/v1/tools') }],
  ])('is not created with %s', async (_what, body) => {
    const { status, body: answer } = await create(ada, body);
    expect([status, answer.code]).toEqual([400, 'validation']);
  });

  it('ignores members that only the server sets', async () => {
    const sent = { id: crypto.randomUUID(), user_id: root.id, hash: 'x', last_used_at: 5, created_at: 5 };
    const { body, headers } = await create(ada, sent);
    expect(body).not.toMatchObject({ id: sent.id });
    expect([body.last_used_at, body.created_at === 5]).toEqual([null, false]);
    expect(headers.get('x-ignored-members')).toContain('user_id');
    expect((await who(body.api_key)).body.id).toBe(ada.id);
  });

  it('records its last use, after a while', async () => {
    const database = await createDatabase();
    const env = { ENABLE_API_KEYS: 'true' };
    const first = await startServer({ database, env });
    const { token } = await signUp(first, 'Ada');
    const { body } = await first.call('POST /auths/api_keys', { token, body: { name: 'used' } });
    await first.call('GET /auths', { token: body.api_key });
    // A stop of the server stores what it has recorded.
    await first.close();
    const [used] = await database.query<{ last_used_at: number }>('select last_used_at from api_key');
    await database.drop();
    expect(used?.last_used_at).toBeGreaterThanOrEqual(body.created_at);
  });

  it('is refused when it is unknown, altered or masked', async () => {
    const { body } = await create(ada);
    const flipped = body.api_key.at(-1) === '0' ? '1' : '0';
    for (const token of [
      'sk-',
      'sk-0',
      body.masked,
      `${body.api_key}0`,
      body.api_key.slice(0, -1) + flipped,
    ]) {
      const { status, body: answer } = await who(token);
      expect([status, answer.code]).toEqual([401, 'unauthenticated']);
    }
  });
});

describe('an API key may not', () => {
  it.each([
    ['GET /auths/api_keys'],
    ['POST /auths/api_keys'],
    ['GET /auths/api_key'],
    ['POST /auths/api_key'],
    ['DELETE /auths/api_key'],
    ['POST /auths/update/password'],
    ['GET /auths/sessions'],
    ['POST /auths/signout'],
  ])('do what requires a sign-in: %s', async (request) => {
    const { body } = await create(root);
    const payload = { name: 'another', password: 'x', new_password: 'y' };
    const answer = await server.call(request, {
      token: body.api_key,
      ...(request.startsWith('POST') && { body: payload }),
    });
    expect([answer.status, answer.body.code]).toEqual([403, 'session_required']);
  });

  it("set its owner's password or address by the procedure for administrators", async () => {
    const { body } = await create(root);
    const update = (change: object) =>
      server.call(`POST /users/${root.id}/update`, { token: body.api_key, body: change });
    for (const change of [{ password: 'taken over' }, { email: 'mallory@example.com' }]) {
      const { status, body: answer } = await update(change);
      expect([status, answer.code]).toEqual([403, 'session_required']);
    }
    expect((await update({ name: 'Root' })).status).toBe(200);
  });

  it('do what its owner may not', async () => {
    const { body } = await create(ada);
    expect((await server.call('GET /users', { token: body.api_key })).status).toBe(403);
    expect((await revoke(bob, body.id)).status).toBe(404);
    expect((await who(body.api_key)).status).toBe(200);
  });
});

describe('an API key ends', () => {
  it('when it is revoked, with its sockets; other credentials stay', async () => {
    const [one, other] = [(await create(ada)).body, (await create(ada)).body];
    const here = await arrive(one.api_key);
    const elsewhere = await arrive(other.api_key);
    const session = await arrive(ada.token);
    expect((await revoke(ada, one.id)).body).toBe(true);
    await here.gone();
    expect((await who(one.api_key)).status).toBe(401);
    elsewhere.stays();
    session.stays();
    expect((await revoke(ada, one.id)).body.code).toBe('not_found');
    const twice = await Promise.all([revoke(ada, other.id), revoke(ada, other.id)]);
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  });

  it('when it expires, with its sockets', async () => {
    let key = { id: '', api_key: '' };
    let here: Awaited<ReturnType<typeof tryToArrive>> | undefined;
    // On a slow machine the key may expire before the sockets are open.
    for (let seconds = 2; here?.hasEnded() ?? true; seconds *= 2) {
      const expires_at = Math.floor(Date.now() / 1000) + seconds;
      const { status, body } = await create(ada, { expires_at });
      if (status !== 200) continue;
      key = body;
      here = await tryToArrive(key.api_key);
    }
    await here?.gone();
    expect((await who(key.api_key)).status).toBe(401);
    expect((await list(ada)).body.map(({ id }: { id: string }) => id)).toContain(key.id);
  });

  it('in its sockets when its owner loses rights; it goes on with fewer rights', async () => {
    const admin = await signUpAs(server, root, 'Demoted', 'admin');
    const { body } = await create(admin);
    expect((await server.call('GET /users', { token: body.api_key })).status).toBe(200);
    const here = await arrive(body.api_key);
    await server.call(`POST /users/${admin.id}/update`, { token: root.token, body: { role: 'user' } });
    await here.gone();
    expect((await server.call('GET /users', { token: body.api_key })).status).toBe(403);
    await server.call(`POST /users/${admin.id}/update`, { token: root.token, body: { role: 'pending' } });
    expect((await server.call('GET /channels', { token: body.api_key })).body.code).toBe('account_pending');
    expect((await list(await signIn(server, admin))).status).toBe(401);
  });

  it('when the account is deleted', async () => {
    const person = await signUpAs(server, root, 'Leaver', 'user');
    const { body } = await create(person);
    const here = await arrive(body.api_key);
    await server.call(`DELETE /users/${person.id}`, { token: root.token });
    await here.gone();
    expect((await who(body.api_key)).status).toBe(401);
    expect(await server.database.query('select from api_key where user_id = $1', [person.id])).toEqual([]);
  });

  it('when an administrator revokes it', async () => {
    const { body } = await create(ada);
    const of = `/users/${ada.id}/api_keys`;
    expect((await server.call(`GET ${of}`, { token: bob.token })).status).toBe(403);
    const listed = await server.call(`GET ${of}`, { token: root.token });
    expect(listed.body.map(({ id }: { id: string }) => id)).toContain(body.id);
    expect((await server.call(`DELETE ${of}/${body.id}`, { token: bob.token })).status).toBe(403);
    expect(
      (await server.call(`DELETE /users/${bob.id}/api_keys/${body.id}`, { token: root.token })).status,
    ).toBe(404);
    expect((await server.call(`DELETE ${of}/${body.id}`, { token: root.token })).body).toBe(true);
    expect((await who(body.api_key)).status).toBe(401);
  });

  it('while auth.enable_api_keys is off or the permission is missing', async () => {
    const { body } = await create(ada);
    const administrators = (await create(root)).body;
    const here = await arrive(body.api_key);
    await keysOn(false);
    await here.gone();
    expect((await who(body.api_key)).body).toEqual({
      detail: 'Use of API key is not enabled in the environment.',
      code: 'api_key_forbidden',
    });
    expect((await create(ada)).body).toEqual({
      detail: 'API key creation is not allowed in the environment.',
      code: 'api_key_forbidden',
    });
    expect((await who(administrators.api_key)).status).toBe(200);
    await config.configure(({ auth }) => {
      auth.enable_api_keys = false;
    });
    expect((await who(administrators.api_key)).status).toBe(403);
    expect((await create(root)).status).toBe(403);
    expect((await revoke(root, administrators.id)).status).toBe(200);
    await keysOn();
    expect((await who(body.api_key)).status).toBe(200);
  });
});

describe('the single key of other clients', () => {
  const single = (method: string, { token } = ada) => server.call(`${method} /auths/api_key`, { token });

  it('is the key named default: it is created, never shown again, replaced and deleted', async () => {
    expect((await single('GET')).status).toBe(404);
    const first = (await single('POST')).body.api_key;
    // Clients copy the answer as the key itself, and only its hash is stored.
    const shown = await single('GET');
    expect([shown.status, shown.body.detail]).toEqual([
      404,
      expect.stringContaining(`sk-...${first.slice(-4)}`),
    ]);
    const here = await arrive(first);
    const second = (await single('POST')).body.api_key;
    await here.gone();
    expect([(await who(first)).status, (await who(second)).status]).toEqual([401, 200]);
    const mine = (await list(ada)).body.filter(({ name }: { name: string }) => name === 'default');
    expect(mine).toHaveLength(1);
    expect((await single('DELETE')).body).toBe(true);
    expect((await single('DELETE')).body).toBe(true);
    expect((await who(second)).status).toBe(401);
  });

  it('exists once, however many are created at once', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => single('POST', bob)));
    const works = await Promise.all(made.map(async ({ body }) => (await who(body.api_key)).status));
    expect(works.toSorted()).toEqual([200, 401, 401, 401]);
  });

  it('requires an account that is not pending', async () => {
    const stranger = await signUp(server, 'Stranger');
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect((await server.call(`${method} /auths/api_key`)).status).toBe(401);
      expect((await single(method, stranger)).body.code).toBe('account_pending');
    }
  });
});
