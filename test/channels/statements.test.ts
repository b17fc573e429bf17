import { afterAll, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

const server = await startServer();
afterAll(() => server.close());
const [owner, member] = await signUpAll(server, 'Owner', 'Member');

/** The statements that a call runs. */
async function statementsOf(request: string, body?: unknown): Promise<string[]> {
  const options = { token: member.token, body };
  // The first call of a kind may open a connection.
  await server.call(request, options);
  return recordStatements(async () => {
    expect((await server.call(request, options)).status).toBe(200);
  });
}

describe('the number of statements', () => {
  it('is zero for data of the session', async () => {
    expect(await statementsOf('GET /users/permissions')).toEqual([]);
  });

  it('is one for a list of channels of any length', async () => {
    for (let n = 0; n < 20; n += 1) {
      const body = { name: String(n), access_grants: [grant(member.id, 'read')] };
      await server.call('POST /channels/create', { token: owner.token, body });
    }
    for (const path of ['/channels', '/channels/list']) {
      expect(await statementsOf(`GET ${path}`)).toHaveLength(1);
      expect((await server.call(`GET ${path}`, { token: member.token })).body).toHaveLength(20);
    }
  });

  it('is one for a channel, a list of messages, a message and a post, with any references', async () => {
    const body = { name: 'x', access_grants: [grant(member.id, 'write')] };
    const { id } = (await server.call('POST /channels/create', { token: owner.token, body })).body;
    const path = `/channels/${id}/messages`;
    const root = (await server.call(`POST ${path}/post`, { token: member.token, body: { content: 'x' } }))
      .body.id;

    expect(await statementsOf(`POST ${path}/post`, { content: 'x' })).toHaveLength(1);
    const reply = { content: 'x', parent_id: root, reply_to_id: root };
    expect(await statementsOf(`POST ${path}/post`, reply)).toHaveLength(1);
    for (let n = 0; n < 30; n += 1) {
      await server.call(`POST ${path}/post`, {
        token: owner.token,
        body: { content: 'x', reply_to_id: root },
      });
    }
    expect(await statementsOf(`GET ${path}`)).toHaveLength(1);
    expect(await statementsOf(`GET ${path}/${root}`)).toHaveLength(1);
    expect(await statementsOf(`GET /channels/${id}`)).toHaveLength(1);
    expect(await statementsOf(`GET /channels/${id}/members`)).toHaveLength(1);
    expect(await statementsOf('GET /channels/threads')).toHaveLength(1);
  });
});
