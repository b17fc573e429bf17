import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signIn, signUp, signUpAs, type TestServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

describe.skipIf(withoutRedis)('keys and sessions at another process', () => {
  let pair: Pair;
  let here: TestServer;
  let there: TestServer;
  let root: Person;

  beforeAll(async () => {
    pair = await startPair({ env: { ENABLE_API_KEYS: 'true' } });
    ({ here, there } = pair);
    root = await signUp(here, 'Root');
  });
  afterAll(() => pair.close());

  let made = 0;
  const keyOf = async ({ token }: Person, more: object = {}) =>
    (await here.call('POST /auths/api_keys', { token, body: { name: `key ${++made}`, ...more } })).body;
  const statusOf = async (token: string) => (await there.call('GET /channels', { token })).status;

  async function whileThere(token: string, act: () => Promise<unknown>): Promise<void> {
    const sockets = [await listenBySocketIo(there.url, token), await listenByTrpc(there.url, token)];
    expect([await statusOf(token), ...sockets.map(({ ended }) => ended)]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    await act();
    await until('the credential to be refused', async () => (await statusOf(token)) !== 200);
    await until('both sockets to end', () => sockets.every(({ ended }) => ended !== undefined));
    for (const socket of sockets) socket.close();
  }

  it('end when a key is revoked', async () => {
    const { id, api_key } = await keyOf(root);
    await whileThere(api_key, () => here.call(`DELETE /auths/api_keys/${id}`, { token: root.token }));
    expect(await statusOf(api_key)).toBe(401);
  });

  it('end when the key named default is replaced', async () => {
    const replace = async () => (await here.call('POST /auths/api_key', { token: root.token })).body.api_key;
    await whileThere(await replace(), replace);
  });

  it('end when the owner of a key is demoted', async () => {
    const person = await signUpAs(here, root, 'Demoted', 'admin');
    const { api_key } = await keyOf(person);
    const demote = () =>
      here.call(`POST /users/${person.id}/update`, { token: root.token, body: { role: 'pending' } });
    await whileThere(api_key, demote);
  });

  it('end when a session is ended from another', async () => {
    const other = await signIn(here, root);
    const sessions = (await here.call('GET /auths/sessions', { token: other.token })).body;
    const { id } = sessions.find(({ is_current }: { is_current: boolean }) => is_current);
    await whileThere(other.token, () => here.call(`DELETE /auths/sessions/${id}`, { token: root.token }));
  });

  it('end even while notices are lost', async () => {
    const { id, api_key } = await keyOf(root);
    expect(await statusOf(api_key)).toBe(200);
    await pair.redis.kill();
    await here.call(`DELETE /auths/api_keys/${id}`, { token: root.token });
    await until('the key to be refused', async () => (await statusOf(api_key)) === 401);
    await pair.redis.restart();
  });
});
