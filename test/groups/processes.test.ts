import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signUpAll, type TestServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

describe.skipIf(withoutRedis)('a change of a group at one process', () => {
  let pair: Pair;
  let here: TestServer;
  let there: TestServer;
  let root: Person;
  let ann: Person;

  beforeAll(async () => {
    pair = await startPair();
    ({ here, there } = pair);
    [root, ann] = await signUpAll(here, 'Root', 'Ann');
  });
  afterAll(() => pair.close());

  const asRoot = async (request: string, body: unknown) =>
    (await here.call(request, { token: root.token, body })).body;
  const say = (id: string, content: string) => asRoot(`POST /channels/${id}/messages/post`, { content });

  it('gives and revokes permissions and channels at another process, on open sockets too', async () => {
    const form = { name: 'crew', description: '', permissions: { workspace: { tools_export: true } } };
    const group = await asRoot('POST /groups/create', form);
    const grant = { principal_type: 'group', principal_id: group.id, permission: 'read' };
    const own = { principal_type: 'user', principal_id: ann.id, permission: 'read' };
    const crew = await asRoot('POST /channels/create', { name: 'crew', access_grants: [grant] });
    const open = await asRoot('POST /channels/create', { name: 'open', access_grants: [own] });
    const sockets = [await listenBySocketIo(there.url, ann.token), await listenByTrpc(there.url, ann.token)];
    const heardBy = (at: number) => sockets[at]?.events.map(({ content }) => content) ?? [];
    const mayExport = async () =>
      (await there.call('GET /tools/export', { token: ann.token })).status === 200;
    expect(await mayExport()).toBe(false);

    const user_ids = [ann.id];
    await asRoot(`POST /groups/id/${group.id}/users/add`, { user_ids });
    await until('the permission', mayExport);
    await until('word from the channel', async () => {
      await say(crew.id, 'inside');
      return [0, 1].every((at) => heardBy(at).includes('inside'));
    });

    await asRoot(`POST /groups/id/${group.id}/users/remove`, { user_ids });
    await until('the end of the permission', async () => !(await mayExport()));
    expect((await there.call(`GET /channels/${crew.id}`, { token: ann.token })).status).toBe(403);
    await say(crew.id, 'after');
    await say(open.id, 'last');
    await until('the last word', () => [0, 1].every((at) => heardBy(at).includes('last')));
    for (const at of [0, 1]) expect(heardBy(at)).not.toContain('after');
    for (const socket of sockets) socket.close();
  });
});
