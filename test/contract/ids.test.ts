import { afterAll, describe, expect, it } from 'vitest';
import { signUpAll, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const [admin, member] = await signUpAll(server, 'Admin', 'Member');

// PostgreSQL finds a row by its id in any case, but grants, notices and rooms compare text.
describe('an id in upper case means the same as in lower case', () => {
  const grants = (principal_id: string) => [{ principal_type: 'user', principal_id, permission: 'read' }];

  it('for a channel and its grants', async () => {
    const { token } = admin;
    const { body: channel } = await server.call('POST /channels/create', {
      token,
      body: { name: 'general', access_grants: grants(member.id.toUpperCase()) },
    });
    const path = `/channels/${channel.id.toUpperCase()}`;
    expect((await server.call(`GET ${path}`, { token: member.token })).body.id).toBe(channel.id);
    const { body: message } = await server.call(`POST ${path}/messages/post`, {
      token,
      body: { content: 'Hello' },
    });
    expect(message.channel_id).toBe(channel.id);
    await server.call(`POST ${path}/update`, { token, body: { access_grants: [] } });
    expect((await server.call(`GET ${path}`, { token: member.token })).status).toBe(403);
    await server.call(`POST ${path}/update`, { token, body: { access_grants: grants(member.id) } });
    await server.call(`DELETE ${path}/delete`, { token });
    expect(
      await server.database.query('select from access_grant where resource_id = $1', [channel.id]),
    ).toEqual([]);
  });

  it('for an account: deleting it ends its sessions, and the own account cannot be deleted', async () => {
    const own = await server.call(`DELETE /users/${admin.id.toUpperCase()}`, { token: admin.token });
    expect(own.status).toBe(403);
    expect((await server.call('GET /auths', { token: member.token })).status).toBe(200);
    await server.call(`DELETE /users/${member.id.toUpperCase()}`, { token: admin.token });
    expect((await server.call('GET /auths', { token: member.token })).status).toBe(401);
  });
});
