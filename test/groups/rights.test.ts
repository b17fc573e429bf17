import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');

let group: { id: string; name: string };
let made = 0;

const makeGroup = async (form: object = {}) =>
  (await as(root)('POST /groups/create', { name: `group ${++made}`, description: '', ...form })).body;
const add = (...people: Person[]) =>
  as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: people.map(({ id }) => id) });
const remove = (person: Person) =>
  as(root)(`POST /groups/id/${group.id}/users/remove`, { user_ids: [person.id] });
const grant = (permission: 'read' | 'write', principal_id = group.id, principal_type = 'group') => ({
  principal_type,
  principal_id,
  permission,
});
const makeChannel = async (...access_grants: object[]) =>
  (await as(root)('POST /channels/create', { name: `channel ${++made}`, access_grants })).body.id as string;

/** A tool of the administrator, inserted by SQL: its source does not matter here. */
async function makeTool(...grants: object[]): Promise<string> {
  const id = `tool_${++made}`;
  await server.database.query(
    `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
     values ($1, $2, $1, 'class Tools: pass', '{"description": null, "manifest": {}}', '[]', 1, 1)`,
    [id, root.id],
  );
  await as(root)(`POST /tools/id/${id}/access/update`, { access_grants: grants });
  return id;
}
const toolIdsOf = async (person: Person) =>
  (await as(person)('GET /tools')).body.map(({ id }: { id: string }) => id);

beforeEach(async () => {
  group = await makeGroup();
});

describe('a channel with a grant to a group', () => {
  it('can be read and written only by its members', async () => {
    const [readable, writable] = [await makeChannel(grant('read')), await makeChannel(grant('write'))];
    await add(ann);
    expect((await as(ann)(`GET /channels/${readable}`)).body).toMatchObject({
      write_access: false,
      user_count: 2,
    });
    expect((await as(ben)(`GET /channels/${readable}`)).status).toBe(403);
    const post = (person: Person, id: string) =>
      as(person)(`POST /channels/${id}/messages/post`, { content: 'x' });
    expect((await post(ann, readable)).status).toBe(403);
    expect((await post(ann, writable)).status).toBe(200);
    const listed = (await as(ann)('GET /channels')).body.map(({ id }: { id: string }) => id);
    expect(listed).toEqual(expect.arrayContaining([readable, writable]));
    const { body } = await as(ann)(`GET /channels/${readable}/members`);
    expect(body.users.map(({ id }: { id: string }) => id).toSorted()).toEqual([root.id, ann.id].toSorted());
  });

  it.each([
    ['Socket.IO', listenBySocketIo],
    ['tRPC', listenByTrpc],
  ])(
    'appears on open sockets of %s when a member is added, and disappears when they are removed',
    async (_door, listen) => {
      const id = await makeChannel(grant('read'));
      const other = await makeChannel(grant('read', ann.id, 'user'));
      const listener = await listen(server.url, ann.token);
      const say = (channel: string, content: string) =>
        as(root)(`POST /channels/${channel}/messages/post`, { content });
      const heard = () => listener.events.map(({ content }) => content);
      await add(ann);
      // The server updates the channels of a socket soon after the answer.
      await until('the first word', async () => {
        await say(id, 'inside');
        return heard().includes('inside');
      });
      await remove(ann);
      await say(id, 'after');
      await say(other, 'end');
      await until('the last word', () => heard().includes('end'));
      expect(heard()).not.toContain('after');
      listener.close();
    },
  );

  it.each([
    ['removal', () => remove(ann)],
    ['deletion of the group', () => as(root)(`DELETE /groups/id/${group.id}/delete`)],
  ])('is out of reach at once after the %s', async (_how, end) => {
    const [channel, tool] = [await makeChannel(grant('write')), await makeTool(grant('write'))];
    await add(ann);
    expect((await as(ann)(`GET /channels/${channel}`)).status).toBe(200);
    expect((await as(ann)(`GET /tools/id/${tool}`)).status).toBe(200);
    expect((await end()).status).toBe(200);
    expect((await as(ann)(`GET /channels/${channel}`)).status).toBe(403);
    expect((await as(ann)(`GET /tools/id/${tool}`)).status).toBe(401);
    expect(await toolIdsOf(ann)).not.toContain(tool);
  });
});

it('a deleted group leaves no grants', async () => {
  await makeChannel(grant('write'));
  await as(root)(`DELETE /groups/id/${group.id}/delete`);
  const left = await server.database.query('select from access_grant where principal_id = $1', [group.id]);
  expect(left).toEqual([]);
});

it('a tool with grants to a group is listed once, with the highest right', async () => {
  const tool = await makeTool(grant('read'), grant('write'), grant('read', ann.id, 'user'));
  await add(ann);
  expect((await toolIdsOf(ann)).filter((id: string) => id === tool)).toHaveLength(1);
  expect((await as(ann)(`GET /tools/id/${tool}`)).body.write_access).toBe(true);
  expect(await toolIdsOf(ben)).not.toContain(tool);
});

it('the id of a group gives nothing to a user of that id, and a grant to a group `*` gives nothing', async () => {
  const channel = await makeChannel(grant('read', ann.id), grant('read', '*'));
  expect((await as(ann)(`GET /channels/${channel}`)).status).toBe(403);
});

describe('granting access to a group', () => {
  const share = (rule: unknown) => ({ data: { config: { share: rule } } });
  const give = (person: Person, tool: string, access_grants: object[]) =>
    as(person)(`POST /tools/id/${tool}/access/update`, { access_grants });
  const grantsAfter = async (...args: Parameters<typeof give>) =>
    (await give(...args)).body.access_grants.map(
      ({ principal_id }: { principal_id: string }) => principal_id,
    );

  it('depends on the setting of the group: everyone, its members, or administrators', async () => {
    const [open, closed, foreign] = [
      await makeGroup(share(true)),
      await makeGroup(share(false)),
      await makeGroup(),
    ];
    await add(ann);
    await as(root)(`POST /groups/id/${closed.id}/users/add`, { user_ids: [ann.id] });
    const tool = await makeTool(grant('write', ann.id, 'user'));
    const own = grant('write', ann.id, 'user');
    const mine = [own, grant('read', group.id), grant('read', open.id)];
    expect(await grantsAfter(ann, tool, mine)).toHaveLength(3);
    for (const other of [closed, foreign]) {
      const { status, body } = await give(ann, tool, [...mine, grant('read', other.id)]);
      expect([status, body.code]).toEqual([403, 'forbidden']);
      expect(body.detail).toContain(`the group ${other.id}`);
    }
    const all = [...mine, grant('read', closed.id), grant('read', foreign.id)];
    expect(await grantsAfter(root, tool, all)).toHaveLength(5);
    // Grants by other people stay, but cannot be raised.
    expect(await grantsAfter(ann, tool, all)).toHaveLength(5);
    expect((await give(ann, tool, [own, grant('write', closed.id)])).status).toBe(403);
    expect((await as(root)(`GET /tools/id/${tool}`)).body.access_grants).toHaveLength(5);
  });
});

describe('group channels', () => {
  it('add the members of groups, each once', async () => {
    await add(ann, root);
    const form = { type: 'group', name: 'crew', user_ids: [ann.id], group_ids: [group.id] };
    const { body } = await as(root)('POST /channels/create', form);
    expect(body.user_ids.toSorted()).toEqual([root.id, ann.id].toSorted());
    const later = await makeGroup();
    await as(root)(`POST /groups/id/${later.id}/users/add`, { user_ids: [ann.id, ben.id] });
    const added = await as(root)(`POST /channels/${body.id}/update/members/add`, { group_ids: [later.id] });
    expect(added.body.map(({ user_id }: { user_id: string }) => user_id)).toEqual([ben.id]);
  });

  it('refuse groups that the caller may not share with', async () => {
    const form = { type: 'group', name: 'crew', group_ids: [group.id] };
    const { status, body } = await as(ann)('POST /channels/create', form);
    expect([status, body.detail]).toEqual([400, `group_ids: there is no group ${group.id}.`]);
  });
});

describe('permissions of a group', () => {
  const effective = async (person: Person) => (await as(person)('GET /users/permissions')).body;

  it('apply to members, in existing and in new sessions, and end with the membership', async () => {
    const giving = await makeGroup({
      permissions: { workspace: { tools_export: true }, features: { channels: false } },
    });
    expect((await effective(ann)).workspace.tools_export).toBe(false);
    expect((await as(ann)('GET /tools/export')).status).toBe(401);
    await as(root)(`POST /groups/id/${giving.id}/users/add`, { user_ids: [ann.id] });
    const tree = await effective(ann);
    // Groups only add permissions: a false value takes nothing away.
    expect([tree.workspace.tools_export, tree.workspace.tools, tree.features.channels]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await as(ann)('GET /tools/export')).status).toBe(200);
    expect((await as(ann)('GET /auths')).body.permissions).toEqual(tree);
    const signedIn = await server.call('POST /auths/signin', {
      body: { email: ann.email, password: 'correct horse battery' },
    });
    expect(signedIn.body.permissions).toEqual(tree);
    await as(root)(`POST /groups/id/${giving.id}/update`, {
      permissions: { workspace: { tools_export: false } },
    });
    expect((await as(ann)('GET /tools/export')).status).toBe(401);
    await as(root)(`POST /groups/id/${giving.id}/update`, {
      permissions: { workspace: { tools_export: true } },
    });
    expect((await as(ann)('GET /tools/export')).status).toBe(200);
    await as(root)(`POST /groups/id/${giving.id}/users/remove`, { user_ids: [ann.id] });
    expect((await as(ann)('GET /tools/export')).status).toBe(401);
  });
});
