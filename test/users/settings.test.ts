import { afterAll, describe, expect, it } from 'vitest';
import { type Person, signUp, signUpAll, signUpAs, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');

const READ = 'GET /users/user/settings';
const UPDATE = 'POST /users/user/settings/update';
const read = async ({ token }: Person) => (await server.call(READ, { token })).body;
const update = ({ token }: Person, body: unknown) => server.call(UPDATE, { token, body });

describe('settings', () => {
  it('require a full account', async () => {
    const { token } = await signUp(server, 'Pending');
    for (const credentials of [{}, { token: 'wrong' }, { token }]) {
      expect((await server.call(READ, credentials)).status).toBe(401);
      expect((await server.call(UPDATE, { ...credentials, body: { ui: {} } })).status).toBe(401);
    }
  });

  it('keep what the clients of a user send, member by member', async () => {
    const bob = await signUpAs(server, root, 'Bob', 'user');
    expect(await read(bob)).toEqual({ ui: {} });
    const ui = { theme: 'dark', nested: { deep: [1, null, 'x'] } };
    expect((await update(bob, { ui, plugin: { a: 1, b: 2 } })).body).toEqual({ ui, plugin: { a: 1, b: 2 } });
    const answer = await update(bob, { plugin: { a: 3 } });
    expect(answer.body).toEqual({ ui, plugin: { a: 3 } });
    expect(answer.headers.get('x-ignored-members')).toBeNull();
    expect(await read(bob)).toEqual({ ui, plugin: { a: 3 } });
    expect((await update(bob, {})).body).toEqual({ ui, plugin: { a: 3 } });
    expect((await update(bob, { ui: null })).body).toEqual({ ui: {}, plugin: { a: 3 } });
    expect(await read(ann)).toEqual({ ui: {} });
  });

  it('merge `ui` by its members, and null removes one', async () => {
    const kim = await signUpAs(server, root, 'Kim', 'user');
    await update(kim, { ui: { theme: 'dark', notifications: { sound: true, title: 'x' } } });
    const answer = await update(kim, { ui: { language: 'de', notifications: { sound: false } } });
    const merged = { theme: 'dark', language: 'de', notifications: { sound: false } };
    expect(answer.body).toEqual({ ui: merged });
    await update(kim, { ui: { theme: null } });
    expect(await read(kim)).toEqual({ ui: { language: 'de', notifications: { sound: false } } });
    const names = Array.from({ length: 10 }, (_, n) => `client${n}`);
    await Promise.all(names.map((name) => update(kim, { ui: { [name]: name } })));
    expect(Object.keys((await read(kim)).ui).toSorted()).toEqual([...names, 'language', 'notifications']);
  });

  it('keep both of two concurrent changes', async () => {
    const eve = await signUpAs(server, root, 'Eve', 'user');
    const names = Array.from({ length: 20 }, (_, n) => `client${n}`);
    await Promise.all(names.map((name) => update(eve, { [name]: name })));
    expect(Object.keys(await read(eve)).toSorted()).toEqual([...names, 'ui'].toSorted());
  });

  it('must be an object, with a bounded total size', async () => {
    for (const body of [[], 'text', 7, null]) expect((await update(ann, body)).status).toBe(400);
    const large = { text: 'x'.repeat(150 * 1024) };
    expect((await update(ann, { a: large })).status).toBe(200);
    const refusal = await update(ann, { b: large });
    expect([refusal.status, refusal.body.code]).toEqual([400, 'validation']);
    expect((await update(ann, { a: 'x'.repeat(300 * 1024) })).status).toBe(400);
    expect((await update(ann, { a: 'NUL \0' })).status).toBe(400);
    expect(await read(ann)).toEqual({ ui: {}, a: large });
    expect((await update(ann, { a: null })).body).toEqual({ ui: {}, a: null });
  });

  it.each([
    'http://127.0.0.1:5432/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:10.0.0.1]/',
    'http://localhost/hook',
    'file:///etc/passwd',
    'https://user:password@example.com/',
    'nonsense',
  ])('refuse a webhook that may not be called: %s', async (webhook_url) => {
    const { status, body } = await update(ann, { ui: { notifications: { webhook_url } } });
    expect([status, body.code]).toEqual([400, 'address_refused']);
  });

  it('accept a webhook on the public network or none', async () => {
    for (const webhook_url of ['https://hooks.slack.com/services/T/B/x', '', null]) {
      expect((await update(ann, { ui: { notifications: { webhook_url } } })).status).toBe(200);
    }
    const longest = `https://example.com/${'x'.repeat(1_980)}`;
    expect((await update(ann, { ui: { notifications: { webhook_url: longest } } })).status).toBe(200);
    for (const webhook_url of [7, ['https://example.com/'], {}, `${longest}x`]) {
      const { status, body } = await update(ann, { ui: { notifications: { webhook_url } } });
      expect([status, body.detail]).toEqual([
        400,
        'ui.notifications.webhook_url: must be an address of at most 2000 bytes',
      ]);
    }
  });

  it('may have tool servers only for users with the permission', async () => {
    const ui = { theme: 'dark', toolServers: [{ url: 'https://example.com' }] };
    const { body } = await update(ann, { ui });
    expect([body.ui.theme, body.ui.toolServers]).toEqual(['dark', undefined]);
    expect((await update(root, { ui })).body.ui).toEqual(ui);
  });
});
