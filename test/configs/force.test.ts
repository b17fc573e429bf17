import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { until } from '../support/poll.ts';
import { PASSWORD, signIn, signUpAll, startServer } from '../support/server.ts';
import { type Listener, listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

const server = await startServer();
afterAll(() => server.close());
const [root, user] = await signUpAll(server, 'Root', 'User');
const initial = (await server.call('GET /configs/export', { token: root.token })).body;
afterEach(() => configure(() => {}));

/** Imports the initial configuration with a change. */
async function configure(change: (configuration: Configuration) => void): Promise<void> {
  const configuration = structuredClone(initial);
  change(configuration);
  const { status } = await server.call('POST /configs/import', { token: root.token, body: configuration });
  expect(status).toBe(200);
}

const register = (email: string) =>
  server.call('POST /auths/signup', { body: { email, name: 'New', password: PASSWORD } });

describe('takes effect with the answer to the import:', () => {
  it('ui.enable_signup', async () => {
    await configure(({ ui }) => {
      ui.enable_signup = false;
    });
    const { status, body } = await register('closed@example.com');
    expect([status, body.code]).toEqual([403, 'signup_disabled']);
    const created = await server.call('POST /users', {
      token: root.token,
      body: { email: 'byadmin@example.com', name: 'x', password: 'a long password' },
    });
    expect(created.status).toBe(201);
    await configure(() => {});
    expect((await register('open@example.com')).status).toBe(200);
  });

  it('ui.ENABLE_LOGIN_FORM', async () => {
    await configure(({ ui }) => {
      ui.ENABLE_LOGIN_FORM = false;
    });
    const { status, body } = await server.call('POST /auths/signin', {
      body: { email: user.email, password: PASSWORD },
    });
    expect([status, body.code]).toEqual([403, 'signin_disabled']);
    expect((await register('form@example.com')).body.code).toBe('signup_disabled');
  });

  it.each(['user', 'pending', 'admin'] as const)('ui.default_user_role = %s', async (role) => {
    await configure(({ ui }) => {
      ui.default_user_role = role;
    });
    expect((await register(`default.${role}@example.com`)).body.role).toBe(role);
  });

  it('auth.jwt_expiry', async () => {
    await configure(({ auth }) => {
      auth.jwt_expiry = '1d12h';
    });
    const { body } = await register('lifetime@example.com');
    const lifetime = body.expires_at - Math.floor(Date.now() / 1000);
    expect(Math.round(lifetime / 60)).toBe(36 * 60);
  });

  it('user.permissions', async () => {
    const channels = () => server.call('GET /channels', { token: user.token });
    await configure(({ user: { permissions } }) => {
      permissions.features.channels = false;
      permissions.workspace.tools = true;
    });
    expect((await channels()).status).toBe(403);
    expect((await server.call('GET /channels', { token: root.token })).status).toBe(200);
    const { body } = await server.call('GET /users/permissions', { token: user.token });
    expect(body).toMatchObject({ features: { channels: false }, workspace: { tools: true } });
    await configure(() => {});
    expect((await channels()).status).toBe(200);
  });

  it('user.permissions, with defaults for missing permissions', async () => {
    await configure(({ user: { permissions } }) => {
      permissions.features = { notes: false };
    });
    const { body } = await server.call('GET /users/permissions', { token: user.token });
    expect(body.features).toMatchObject({ notes: false, channels: true, api_keys: false });
  });
});

describe('channels', () => {
  const listeners: Listener[] = [];
  afterAll(() => {
    for (const listener of listeners) listener.close();
  });
  const hear = (listener: Listener, content: string) =>
    until(`"${content}" to arrive`, () => listener.events.some((event) => event.content === content));

  it('are closed on open sockets when the permission is revoked, and opened again', async () => {
    const { body: channel } = await server.call('POST /channels/create', {
      token: root.token,
      body: {
        name: 'general',
        access_grants: [{ principal_type: 'user', principal_id: user.id, permission: 'read' }],
      },
    });
    const post = (content: string) =>
      server.call(`POST /channels/${channel.id}/messages/post`, { token: root.token, body: { content } });
    // The accounts stay cached for half a minute, so no other check runs when the permission is revoked.
    const { token } = await signIn(server, user);
    const socket = await listenBySocketIo(server.url, token);
    const subscription = await listenByTrpc(server.url, token);
    const witness = await listenByTrpc(server.url, root.token);
    listeners.push(socket, subscription, witness);
    await post('first');
    for (const listener of listeners) await hear(listener, 'first');

    await configure(({ user: { permissions } }) => {
      permissions.features.channels = false;
    });
    await post('not for you');
    await hear(witness, 'not for you');
    for (const { events } of [socket, subscription]) expect(events.at(-1)?.content).toBe('first');

    await configure(() => {});
    await until('the socket to hear again', async () => {
      await post('again');
      return socket.events.some(({ content }) => content === 'again');
    });
  });

  it('are closed at every door by channels.enable, for administrators too', async () => {
    const { body: channel } = await server.call('POST /channels/create', {
      token: root.token,
      body: { name: 'off' },
    });
    await configure(({ channels }) => {
      channels.enable = false;
    });
    for (const { token } of [user, root]) {
      for (const request of [
        'GET /channels',
        'POST /channels/create',
        `GET /channels/${channel.id}/messages`,
      ]) {
        const hasBody = request.startsWith('POST');
        const { status, body } = await server.call(request, {
          token,
          ...(hasBody && { body: { name: 'x' } }),
        });
        expect([request, status, body.code]).toEqual([request, 403, 'channels_disabled']);
      }
      const late = await listenByTrpc(server.url, token);
      expect(late.ended).toBe('channels_disabled');
      late.close();
    }
  });
});
