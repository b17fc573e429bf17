import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');

const NOWHERE = '00000000-0000-4000-8000-000000000000';
let made = 0;

interface Group {
  id: string;
  name: string;
}
const make = async (parent: Group | null, form: object = {}) =>
  (
    await as(root)('POST /groups/create', {
      ...{ name: `group ${++made}`, description: '', parent_group_id: parent?.id ?? null },
      ...form,
    })
  ).body;
const read = async (group: Group) => (await as(root)(`GET /groups/id/${group.id}`)).body;
const update = (group: Group, changes: object) => as(root)(`POST /groups/id/${group.id}/update`, changes);
const move = (group: Group, parent: Group | null) => update(group, { parent_group_id: parent?.id ?? null });
const add = (group: Group, ...people: Person[]) =>
  as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: people.map(({ id }) => id) });
const makeChannel = async (group: Group, permission = 'read') => {
  const access_grants = [{ principal_type: 'group', principal_id: group.id, permission }];
  return (await as(root)('POST /channels/create', { name: `channel ${++made}`, access_grants })).body.id;
};
const opens = async (person: Person, channel: string) =>
  (await as(person)(`GET /channels/${channel}`)).status === 200;
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).toSorted();
const sorted = (...groups: Group[]) => idsOf(groups);

let top: Group;
let middle: Group;
let leaf: Group;
beforeEach(async () => {
  top = await make(null);
  middle = await make(top);
  leaf = await make(middle);
});

describe('the parent of a group', () => {
  it('is shown, stays when it is not sent, and null removes it', async () => {
    expect(await read(leaf)).toMatchObject({ parent_group_id: middle.id });
    expect((await update(leaf, { description: 'x' })).body).toMatchObject({ parent_group_id: middle.id });
    expect((await move(leaf, top)).body).toMatchObject({ parent_group_id: top.id });
    expect((await move(leaf, null)).body).toMatchObject({ parent_group_id: null });
    expect((await as(root)(`GET /groups/id/${middle.id}/info`)).body.parent_group_id).toBe(top.id);
    expect((await as(root)(`GET /groups/id/${middle.id}/export`)).body.parent_group_id).toBe(top.id);
  });

  it('must exist, and is no group below', async () => {
    const form = { name: 'orphan', description: '', parent_group_id: NOWHERE };
    expect((await as(root)('POST /groups/create', form)).status).toBe(404);
    expect((await move(top, { id: NOWHERE, name: '' })).status).toBe(404);
    for (const parent of [top, middle, leaf]) {
      const { status, body } = await move(top, parent);
      expect([status, body.code]).toEqual([400, 'bad_request']);
    }
    expect((await update(top, { parent_group_id: 'no id' })).body.issues[0].path).toBe('parent_group_id');
    expect(await read(top)).toMatchObject({ parent_group_id: null });
  });

  it('is no circle after concurrent moves', async () => {
    const [one, two] = [await make(null), await make(null)];
    const answers = await Promise.all([move(one, two), move(two, one)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  it('of the groups below a deleted group is the group above it', async () => {
    await add(leaf, ann);
    const channel = await makeChannel(top);
    expect((await as(root)(`DELETE /groups/id/${middle.id}/delete`)).body).toBe(true);
    expect(await read(leaf)).toMatchObject({ parent_group_id: top.id });
    expect(await opens(ann, channel)).toBe(true);
    await as(root)(`DELETE /groups/id/${top.id}/delete`);
    expect(await read(leaf)).toMatchObject({ parent_group_id: null });
    expect(await opens(ann, channel)).toBe(false);
    const left = await server.database.query('select from group_ancestor where group_id = $1', [leaf.id]);
    expect(left).toEqual([]);
  });
});

describe('people of a group below', () => {
  beforeEach(async () => {
    await add(leaf, ann);
    await add(top, ben);
  });

  it('have the grants of the groups above, and not the reverse', async () => {
    const [above, below] = [await makeChannel(top), await makeChannel(leaf)];
    expect([await opens(ann, above), await opens(ann, below)]).toEqual([true, true]);
    expect([await opens(ben, above), await opens(ben, below)]).toEqual([true, false]);
    const listed = idsOf((await as(ann)('GET /channels')).body);
    expect(listed).toEqual(expect.arrayContaining([above, below]));
    const { body } = await as(root)(`GET /channels/${above}/members`);
    expect(idsOf(body.users)).toEqual(idsOf([root, ann, ben]));
  });

  it('lose and get them when a group moves', async () => {
    const channel = await makeChannel(top);
    await move(middle, null);
    expect(await opens(ann, channel)).toBe(false);
    await move(leaf, top);
    expect(await opens(ann, channel)).toBe(true);
  });

  it('hear of it on open sockets', async () => {
    const channel = await makeChannel(top);
    await move(middle, null);
    const listener = await listenBySocketIo(server.url, ann.token);
    await move(middle, top);
    await until('the first word', async () => {
      await as(root)(`POST /channels/${channel}/messages/post`, { content: 'inside' });
      return listener.events.some(({ content }) => content === 'inside');
    });
    listener.close();
  });

  it('have the permissions of the groups above', async () => {
    const allowed = async () => {
      const { body } = await as(ann)('GET /users/permissions');
      return body.workspace.tools;
    };
    expect(await allowed()).toBe(false);
    await update(top, { permissions: { workspace: { tools: true } } });
    await until('the permission', allowed);
    const path = `GET /access/explain?user_id=${ann.id}&permission=workspace.tools`;
    expect(JSON.stringify((await as(root)(path)).body)).toContain(top.name);
    await move(middle, null);
    await until('its end', async () => !(await allowed()));
  });

  it('are in the groups above in lists', async () => {
    const seen = idsOf((await as(ann)('GET /groups')).body);
    expect(seen).toEqual(expect.arrayContaining(sorted(top, middle, leaf)));
    const own = idsOf((await as(ann)('GET /users/groups')).body);
    expect([own.includes(leaf.id), own.includes(middle.id)]).toEqual([true, false]);
    for (const [person, path] of [
      [ann, '/users/groups'],
      [root, `/users/${ann.id}/groups`],
    ] as const) {
      const { body } = await as(person)(`GET ${path}?include_inherited=true`);
      const types = body.map((group: Group & { membership_type: string }) => [
        group.id,
        group.membership_type,
      ]);
      expect(Object.fromEntries(types)).toMatchObject({
        [top.id]: 'inherited',
        [middle.id]: 'inherited',
        [leaf.id]: 'direct',
      });
    }
    const { body: preview } = await as(root)(`GET /users/${ann.id}/preview`);
    expect(idsOf(preview.groups)).toEqual(seen);
  });

  it('are listed as inherited members, with the groups through which they are in', async () => {
    const members = async (query = '') => (await as(root)(`GET /groups/id/${top.id}/members${query}`)).body;
    const all = await members();
    expect(all).toMatchObject({
      items: [
        { id: ann.id, membership_type: 'inherited', via_group_ids: [leaf.id] },
        { id: ben.id, membership_type: 'direct', via_group_ids: [] },
      ],
      total: 2,
      counts: { direct: 1, effective: 2, inherited: 1 },
    });
    expect(idsOf((await members('?membership=inherited')).items)).toEqual([ann.id]);
    expect(idsOf((await members('?membership=direct')).items)).toEqual([ben.id]);
    expect(await read(top)).toMatchObject({ member_count: 1 });
  });

  it('join a group channel that is made for a group above', async () => {
    const form = { name: 'all', type: 'group', group_ids: [top.id] };
    const { body } = await as(root)('POST /channels/create', form);
    const { body: members } = await as(root)(`GET /channels/${body.id}/members`);
    expect(idsOf(members.users)).toEqual(idsOf([root, ann, ben]));
  });

  it('may share with the groups above that their members share with', async () => {
    expect(idsOf((await as(ann)('GET /groups?share=true')).body)).toEqual(
      expect.arrayContaining(sorted(top, middle, leaf)),
    );
    expect(idsOf((await as(ben)('GET /groups?share=true')).body)).not.toContain(leaf.id);
  });
});

it('the preview of a group names what it inherits', async () => {
  await update(top, { permissions: { workspace: { tools: true } } });
  const { body } = await as(root)(`GET /groups/id/${leaf.id}/preview`);
  expect(body.permissions).toEqual({});
  expect([body.inherited_permissions.workspace.tools, body.effective_permissions.workspace.tools]).toEqual([
    true,
    true,
  ]);
});

it('moves are in the audit log', async () => {
  await move(leaf, top);
  await as(root)(`DELETE /groups/id/${top.id}/delete`);
  const { body: moves } = await as(root)(`GET /audit?target=group:${leaf.id}&action=group.update`);
  expect(moves.entries).toMatchObject([
    { before: { parent_group_id: middle.id }, after: { parent_group_id: top.id } },
  ]);
  const { body: ends } = await as(root)(`GET /audit?target=group:${top.id}&action=group.delete`);
  expect(ends.entries[0].before.child_ids.toSorted()).toEqual(sorted(middle, leaf));
});
