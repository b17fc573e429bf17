import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { PNG } from '../webhooks/pictures.ts';

const server = await startServer();
afterAll(() => server.close());
const [root, ada, ben, cleo] = await signUpAll(server, 'Root', 'Ada', 'Ben', 'Cleo');

/** Sends a request as this person and checks that it succeeds. */
async function as({ token }: Person, request: string, body?: object) {
  const answer = await server.call(request, { token, ...(body && { body }) });
  expect([request, answer.status]).toEqual([request, 200]);
  return answer.body;
}

interface Entry {
  action: string;
  actor_id: string;
  before: object | null;
  after: object | null;
}
/** The entries about a resource, oldest first. */
async function told(type: string, id: string): Promise<Entry[]> {
  const { entries } = await as(root, `GET /audit?target=${type}:${id}`);
  return entries
    .map(({ action, actor_id, before, after }: Entry) => ({ action, actor_id, before, after }))
    .reverse();
}
const countOfAll = async () =>
  (await server.database.query<{ n: number }>('select count(*)::int as n from audit_entry'))[0]?.n;

describe('the audit log of a group channel', () => {
  let id: string;
  beforeEach(async () => {
    const body = { name: 'group', type: 'group', user_ids: [ben.id] };
    id = (await as(ada, 'POST /channels/create', body)).id;
  });

  it('records its creator and its members', async () => {
    const [made, ...more] = await told('channel', id);
    expect(more).toEqual([]);
    expect(made).toMatchObject({
      action: 'channel.create',
      actor_id: ada.id,
      before: null,
      after: { type: 'group', name: 'group', description: null, is_private: null },
    });
    expect(made?.after).toMatchObject({ user_ids: expect.arrayContaining([ada.id, ben.id]) });
  });

  it('records added, promoted and removed members, and an administrator who joins by their own decision', async () => {
    const manage = (what: string, user: Person, by: Person, more = {}) =>
      as(by, `POST /channels/${id}/${what}`, {
        ...(what === 'members/role' ? { user_id: user.id } : { user_ids: [user.id] }),
        ...more,
      });
    await manage('update/members/add', cleo, ada);
    await manage('update/members/add', cleo, ada);
    await manage('update/members/add', root, root);
    await manage('members/role', cleo, ada, { role: 'manager' });
    await manage('members/role', cleo, ada, { role: 'manager' });
    await manage('update/members/remove', ben, cleo);
    await manage('update/members/remove', ben, cleo);
    const [, ...changes] = await told('channel', id);
    expect(changes).toEqual([
      { action: 'channel.add', actor_id: ada.id, before: null, after: { user_ids: [cleo.id] } },
      { action: 'channel.add', actor_id: root.id, before: null, after: { user_ids: [root.id] } },
      {
        action: 'channel.role',
        actor_id: ada.id,
        before: { user_id: cleo.id, role: null },
        after: { user_id: cleo.id, role: 'manager' },
      },
      { action: 'channel.remove', actor_id: cleo.id, before: { user_ids: [ben.id] }, after: null },
    ]);
  });

  it('does not record members who leave, but the deletion by the last one', async () => {
    await as(ben, `POST /channels/${id}/members/leave`);
    expect(await told('channel', id)).toHaveLength(1);
    await as(ada, `POST /channels/${id}/members/leave`);
    expect((await told('channel', id)).slice(1)).toEqual([
      { action: 'channel.delete', actor_id: ada.id, before: { name: 'group', type: 'group' }, after: null },
    ]);
  });

  it('records the new manager after the last manager left, was removed or got another role', async () => {
    const rolesOf = async () =>
      (await told('channel', id)).filter(({ action }) => action === 'channel.role').map(({ after }) => after);
    await as(ada, `POST /channels/${id}/update/members/add`, { user_ids: [cleo.id] });
    await as(ada, `POST /channels/${id}/members/leave`);
    expect(await rolesOf()).toEqual([{ user_id: ben.id, role: 'manager' }]);
    await as(ben, `POST /channels/${id}/members/role`, { user_id: ben.id, role: 'member' });
    await as(root, `POST /channels/${id}/update/members/remove`, { user_ids: [cleo.id] });
    expect(await rolesOf()).toEqual([
      { user_id: ben.id, role: 'manager' },
      { user_id: cleo.id, role: 'manager' },
      { user_id: ben.id, role: null },
      { user_id: ben.id, role: 'manager' },
    ]);
  });

  it('records the new manager after an account was deleted, and deleted channels without members', async () => {
    const gone = await signUpAs(server, root, 'Gone', 'user');
    const made = async (user_ids: string[]) =>
      (await as(gone, 'POST /channels/create', { name: 'theirs', type: 'group', user_ids })).id as string;
    const [shared, alone] = [await made([cleo.id]), await made([])];
    const direct = (await as(gone, 'POST /channels/create', { name: '', type: 'dm', user_ids: [gone.id] }))
      .id;
    await as(root, `DELETE /users/${gone.id}`);
    expect((await told('channel', shared)).slice(1)).toEqual([
      {
        action: 'channel.role',
        actor_id: root.id,
        before: { user_id: cleo.id, role: null },
        after: { user_id: cleo.id, role: 'manager' },
      },
    ]);
    expect((await told('channel', alone)).slice(1)).toEqual([
      { action: 'channel.delete', actor_id: root.id, before: { name: 'theirs', type: 'group' }, after: null },
    ]);
    expect(await told('channel', direct)).toEqual([]);
  });

  it('records one removal for concurrent attempts', async () => {
    const remove = () =>
      as(ada, `POST /channels/${id}/update/members/remove`, { user_ids: [ben.id] }) as Promise<number>;
    const counts = await Promise.all([remove(), remove(), remove(), remove()]);
    expect(counts.toSorted()).toEqual([0, 0, 0, 1]);
    expect((await told('channel', id)).map(({ action }) => action)).toEqual([
      'channel.create',
      'channel.remove',
    ]);
  });
});

it('the audit log does not record direct channels', async () => {
  const before = await countOfAll();
  const body = { name: '', type: 'dm', user_ids: [ben.id] };
  const { id } = await as(ada, 'POST /channels/create', body);
  expect(await told('channel', id)).toEqual([]);
  expect(await countOfAll()).toBe(before);
});

describe('the audit log of the data of a channel', () => {
  const secret = { theme: 'dark', webhook: { api_key: 'sk-hidden', url: 'https://one.example' } };

  it('has the data of a standard channel, before and after, without its secrets', async () => {
    const { id } = await as(root, 'POST /channels/create', { name: 'kept', data: { theme: 'light' } });
    await as(root, `POST /channels/${id}/update`, { data: secret, meta: { token: 'hidden, too' } });
    await as(root, `POST /channels/${id}/update`, { data: secret });
    const [, change, ...more] = await told('channel', id);
    expect(more).toEqual([]);
    expect(change).toMatchObject({
      action: 'channel.update',
      before: { data: { theme: 'light' }, meta: null },
      after: {
        data: { theme: 'dark', webhook: { api_key: '********', url: 'https://one.example' } },
        meta: { token: '********' },
      },
    });
  });

  it('does not have the data of a group channel, which administrators may not read', async () => {
    const { id } = await as(ada, 'POST /channels/create', { name: 'ours', type: 'group', user_ids: [] });
    await as(ada, `POST /channels/${id}/update`, { name: 'ours still', data: secret });
    expect((await told('channel', id)).slice(1)).toMatchObject([
      { action: 'channel.update', before: { name: 'ours' }, after: { name: 'ours still' } },
    ]);
    expect(JSON.stringify(await told('channel', id))).not.toContain('dark');
  });
});

describe('in a channel', () => {
  let id: string;
  beforeAll(async () => {
    const access_grants = [grant(ada.id, 'write'), grant(ben.id, 'write'), grant(cleo.id, 'read')];
    id = (await as(root, 'POST /channels/create', { name: 'open', access_grants })).id;
  });
  const post = (by: Person, content: string) =>
    as(by, `POST /channels/${id}/messages/post`, { content }) as Promise<{ id: string }>;

  it('the audit log records edits and deletions by other people, without the content', async () => {
    const { id: messageId } = await post(ada, 'said in confidence');
    const at = `/channels/${id}/messages/${messageId}`;
    await as(ada, `POST ${at}/update`, { content: 'said by herself' });
    expect(await told('message', messageId)).toEqual([]);
    await as(ben, `POST ${at}/update`, { content: 'put into her mouth' });
    await as(root, `DELETE ${at}/delete`);
    const where = { before: { channel_id: id, user_id: ada.id }, after: null };
    expect(await told('message', messageId)).toEqual([
      { action: 'message.update', actor_id: ben.id, ...where },
      { action: 'message.delete', actor_id: root.id, ...where },
    ]);
    const rows = await server.database.query('select to_jsonb(a)::text as row from audit_entry a');
    for (const said of ['in confidence', 'by herself', 'into her mouth']) {
      expect(JSON.stringify(rows)).not.toContain(said);
    }
  });

  it('it does not record deletions by the author, and refused ones', async () => {
    const { id: messageId } = await post(ada, 'mine');
    const before = await countOfAll();
    const path = `DELETE /channels/${id}/messages/${messageId}/delete`;
    expect((await server.call(path)).status).toBe(401);
    expect((await server.call(path, { token: cleo.token })).status).toBe(403);
    await as(ada, path);
    expect((await server.call(path, { token: root.token })).status).toBe(404);
    expect(await countOfAll()).toBe(before);
  });

  it('it records the creation, changes and deletion of a webhook, without its address', async () => {
    const hooks = `/channels/${id}/webhooks`;
    const { id: hookId, token } = await as(root, `POST ${hooks}/create`, { name: 'builds' });
    const update = (form: object) => as(root, `POST ${hooks}/${hookId}/update`, form);
    await update({ name: 'releases' });
    await update({ name: 'releases' });
    await update({ name: 'releases', profile_image_url: PNG });
    await as(root, `DELETE ${hooks}/${hookId}/delete`);
    expect((await server.call(`DELETE ${hooks}/${hookId}/delete`, { token: root.token })).status).toBe(404);
    const actor_id = root.id;
    expect(await told('webhook', hookId)).toEqual([
      { action: 'webhook.create', actor_id, before: null, after: { channel_id: id, name: 'builds' } },
      { action: 'webhook.update', actor_id, before: { name: 'builds' }, after: { name: 'releases' } },
      {
        action: 'webhook.update',
        actor_id,
        before: { picture_replaced: false },
        after: { picture_replaced: true },
      },
      { action: 'webhook.delete', actor_id, before: { channel_id: id, name: 'releases' }, after: null },
    ]);
    const rows = await server.database.query('select to_jsonb(a)::text as row from audit_entry a');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('it does not record refused changes of webhooks', async () => {
    const before = await countOfAll();
    const path = `POST /channels/${id}/webhooks/create`;
    expect((await server.call(path, { token: ada.token, body: { name: 'x' } })).status).toBe(403);
    expect((await server.call(path, { token: root.token, body: { name: 7 } })).status).toBe(400);
    expect(await countOfAll()).toBe(before);
  });
});
