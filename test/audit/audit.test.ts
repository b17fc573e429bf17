import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { administer } from '../configs/support.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { PASSWORD, sessionOf, signIn, signUp, signUpAll, signUpAs, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const [root, ada] = await signUpAll(server, 'Root', 'Ada');
const config = administer(server, root);

beforeAll(async () => {
  await config.configure(({ auth, user }) => {
    auth.enable_api_keys = true;
    user.permissions = { ...user.permissions, features: { ...user.permissions.features, api_keys: true } };
  });
});

const ask = (query = '', token: string | undefined = root.token) =>
  server.call(`GET /audit${query}`, { token });
/** The newest entry of an action. */
async function latest(action: string) {
  const { status, body } = await ask(`?action=${action}&limit=1`);
  expect(status).toBe(200);
  return body.entries[0];
}

describe('the audit log', () => {
  it('requires an administrator', async () => {
    expect((await server.call('GET /audit')).status).toBe(401);
    expect((await ask('', ada.token)).status).toBe(403);
    expect((await ask()).status).toBe(200);
  });

  it('records sign-ins, failed sign-ins and sign-outs, with account and address', async () => {
    const person = await signIn(server, ada);
    expect(await latest('auth.signin')).toMatchObject({
      actor_id: ada.id,
      actor_email: ada.email,
      credential: 'session',
      credential_id: sessionOf(person),
      ip: '127.0.0.1',
      target_type: 'user',
      target_id: ada.id,
      after: { method: 'password' },
    });
    const wrong = (email: string) =>
      server.call('POST /auths/signin', { body: { email, password: 'not the password' } });
    await wrong(ada.email);
    const failed = await latest('auth.signin_failed');
    expect(failed).toMatchObject({ actor_id: null, credential: null, target_id: ada.id });
    expect(failed.after).toEqual({ email: ada.email, method: 'password' });
    await wrong('Nobody@Example.com');
    expect(await latest('auth.signin_failed')).toMatchObject({
      target_id: null,
      after: { email: 'nobody@example.com' },
    });
    await server.call('POST /auths/signout', { token: person.token });
    expect(await latest('auth.signout')).toMatchObject({ actor_id: ada.id, target_id: sessionOf(person) });
  });

  it('records changes of an account by administrators, with the values before', async () => {
    const person = await signUp(server, 'Changing');
    expect(await latest('user.create')).toMatchObject({
      actor_id: null,
      target_id: person.id,
      before: null,
      after: { email: person.email, name: 'Changing', username: null, role: 'pending' },
    });
    const update = (body: object) =>
      server.call(`POST /users/${person.id}/update`, { token: root.token, body });
    await update({ role: 'user', name: 'Changed' });
    expect(await latest('user.role')).toMatchObject({
      actor_id: root.id,
      credential: 'session',
      credential_id: sessionOf(root),
      before: { role: 'pending', name: 'Changing' },
      after: { role: 'user', name: 'Changed' },
    });
    await update({ password: 'a new password' });
    expect(await latest('user.update')).toMatchObject({
      before: { password_replaced: false },
      after: { password_replaced: true },
    });
    await server.call(`DELETE /users/${person.id}`, { token: root.token });
    expect(await latest('user.delete')).toMatchObject({
      actor_id: root.id,
      target_id: person.id,
      before: { email: person.email },
    });
    const { body } = await ask(`?target=user:${person.id}`);
    expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
      'user.delete',
      'user.update',
      'user.role',
      'auth.signin',
      'user.create',
    ]);
  });

  it('records changes of passwords, keys and sessions, without any secret', async () => {
    const person = await signUpAs(server, root, 'Secretive', 'user');
    const key = await server.call('POST /auths/api_keys', { token: person.token, body: { name: 'script' } });
    expect(await latest('api_key.create')).toMatchObject({ actor_id: person.id, after: { name: 'script' } });
    await server.call(`DELETE /auths/api_keys/${key.body.id}`, { token: person.token });
    expect(await latest('api_key.delete')).toMatchObject({ target_id: key.body.id });
    const other = await signIn(server, person);
    await server.call(`DELETE /auths/sessions/${sessionOf(other)}`, { token: person.token });
    expect(await latest('session.end')).toMatchObject({
      target_id: sessionOf(other),
      before: { user_id: person.id },
    });
    const third = await signIn(server, person);
    await server.call(`DELETE /users/${person.id}/sessions/${sessionOf(third)}`, { token: root.token });
    expect(await latest('session.end')).toMatchObject({ actor_id: root.id, target_id: sessionOf(third) });
    await server.call('POST /auths/update/password', {
      token: person.token,
      body: { password: PASSWORD, new_password: 'something else' },
    });
    expect(await latest('auth.password')).toMatchObject({ actor_id: person.id, target_id: person.id });
    const rows = await server.database.query('select to_jsonb(a)::text as row from audit_entry a');
    for (const secret of [key.body.api_key, PASSWORD, 'something else', '$argon2', other.token]) {
      expect(JSON.stringify(rows)).not.toContain(secret);
    }
  });

  it('records the key that an administrator used', async () => {
    const { body } = await server.call('POST /auths/api_keys', {
      token: root.token,
      body: { name: 'admin' },
    });
    await server.call('POST /users', {
      token: body.api_key,
      body: { email: 'by-key@example.com', name: 'By Key', password: PASSWORD },
    });
    expect(await latest('user.create')).toMatchObject({
      actor_id: root.id,
      credential: 'key',
      credential_id: body.id,
    });
  });

  it('records the changes of an import, masked, and of a rollback', async () => {
    await config.configure((configuration) => {
      configuration.auth.enable_api_keys = true;
      configuration.ui.watermark = 'changed';
      configuration.hosted_model_api.api_base_urls = ['https://models.example.com/v1'];
      configuration.hosted_model_api.api_keys = ['sk-of-a-provider'];
    });
    const entry = await latest('config.import');
    expect(entry).toMatchObject({ actor_id: root.id, target_type: 'config' });
    expect([entry.before['ui.watermark'], entry.after['ui.watermark']]).toEqual(['', 'changed']);
    expect(JSON.stringify(entry)).not.toContain('sk-of-a-provider');
    const history = await server.call('GET /configs/history', { token: root.token });
    const earlier = history.body.at(1) ?? history.body.entries?.at(1);
    await server.call('POST /configs/rollback', { token: root.token, body: { id: earlier.id } });
    expect((await latest('config.rollback')).after['ui.watermark']).toBe('');
  });

  it('records grants', async () => {
    const body = {
      name: 'granted',
      access_grants: [{ principal_type: 'user', principal_id: ada.id, permission: 'read' }],
    };
    const channel = await server.call('POST /channels/create', { token: root.token, body });
    expect(await latest('grants.update')).toMatchObject({
      target_type: 'channel',
      target_id: channel.body.id,
      before: { grants: [] },
      after: { grants: [`read for user ${ada.id}`] },
    });
  });

  it('records changes and deletions of channels', async () => {
    const body = { name: 'before' };
    const { id } = (await server.call('POST /channels/create', { token: root.token, body })).body;
    const update = (name: string) =>
      server.call(`POST /channels/${id}/update`, { token: root.token, body: { name } });
    await update('after');
    await update('after');
    await server.call(`DELETE /channels/${id}/delete`, { token: root.token });
    const { entries } = (await ask(`?target=channel:${id}`)).body;
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'channel.delete',
      'channel.update',
      'channel.create',
    ]);
    expect(entries[1]).toMatchObject({ before: { name: 'before' }, after: { name: 'after' } });
  });

  it('has no entries of refused calls', async () => {
    const count = async () =>
      (await server.database.query<{ n: number }>('select count(*)::int as n from audit_entry'))[0]?.n;
    const before = await count();
    await server.call(`DELETE /users/${root.id}`, { token: ada.token });
    await server.call(`DELETE /users/${root.id}`, { token: root.token });
    await server.call('POST /users', {
      token: root.token,
      body: { email: ada.email, name: 'x', password: 'a long password' },
    });
    await server.call('POST /configs/import', { token: root.token, body: {} });
    expect(await count()).toBe(before);
  });
});

describe('pages of the audit log', () => {
  it('follow each other without a gap or a repetition, with concurrent writes', async () => {
    const all = (await ask('?limit=200')).body.entries.map(({ id }: { id: string }) => id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await ask(`?limit=3${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...body.entries.map(({ id }: { id: string }) => id));
      cursor = body.next;
      if (seen.length < 10) await signIn(server, root);
    } while (cursor);
    expect(seen).toEqual(all);
  });

  it('can be filtered', async () => {
    const actions = async (query: string) =>
      (await ask(query)).body.entries.map(({ action }: { action: string }) => action);
    expect(new Set(await actions('?action=auth'))).toEqual(
      new Set(['auth.signin', 'auth.signin_failed', 'auth.signout', 'auth.password']),
    );
    expect(await actions('?action=aut')).toEqual([]);
    expect(await actions(`?actor=${crypto.randomUUID()}`)).toEqual([]);
    const mine = (await ask(`?actor=${ada.id.toUpperCase()}`)).body.entries;
    expect(mine.length).toBeGreaterThan(0);
    expect(mine.every(({ actor_id }: { actor_id: string }) => actor_id === ada.id)).toBe(true);
    const soon = Math.floor(Date.now() / 1000) + 10;
    expect(await actions(`?after=${soon}`)).toEqual([]);
    expect(
      (await actions(`?before=${soon}&target=config`)).every((action: string) =>
        action.startsWith('config.'),
      ),
    ).toBe(true);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'cursor=x',
    'actor=x',
    'before=soon',
    'after=-1',
    'target=:',
    'action=DROP',
    `action=${'x'.repeat(10)}%25`,
    'before=99999999999',
  ])('refuse %s', async (query) => {
    expect((await ask(`?${query}`)).body.code).toBe('validation');
  });
});

describe('entries of the audit log', () => {
  it.each([
    `update audit_entry set action = 'nothing'`,
    'delete from audit_entry',
    'truncate audit_entry',
    `delete from audit_entry where created_at < 0`,
  ])('cannot be changed in the database: %s', async (text) => {
    await expect(server.database.query(text)).rejects.toThrow('append-only');
  });

  it('are deleted when they are older than the setting, and no others', async () => {
    const database = await createDatabase();
    const day = 86_400;
    const now = Math.floor(Date.now() / 1000);
    await database.query(
      `insert into audit_entry (id, created_at, action)
       select gen_random_uuid(), $1 + n % 2 * $2::int, 'old.one' from generate_series(1, 2400) n`,
      [now - 8 * day, 2 * day],
    );
    const few = await startServer({ database, env: { AUDIT_RETENTION_DAYS: '7' } });
    await until('the old to leave', async () => {
      const [row] = await database.query<{ n: number }>('select count(*)::int as n from audit_entry');
      return row?.n === 1200;
    });
    await few.close();
    const all = await startServer({ database, env: { AUDIT_RETENTION_DAYS: '0' } });
    await all.close();
    const [left] = await database.query<{ n: number; oldest: number }>(
      'select count(*)::int as n, min(created_at) as oldest from audit_entry',
    );
    expect(left).toEqual({ n: 1200, oldest: now - 6 * day });
    await database.drop();
  });

  it('are written once for one change, with concurrent attempts', async () => {
    const other = await signUp(server, 'Twin');
    const attempts = await Promise.all(
      Array.from({ length: 4 }, () => server.call(`DELETE /users/${other.id}`, { token: root.token })),
    );
    expect(attempts.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
    const { body } = await ask(`?target=user:${other.id}&action=user.delete`);
    expect(body.entries).toHaveLength(1);
  });
});
