import { afterAll, expect, it } from 'vitest';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';

/** Tests what happens to everything of an account when it is deleted (docs/decisions/deleted-accounts.md). */
const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');
const other = await signUpAs(server, root, 'Other', 'admin');

const rows = (text: string, ...values: unknown[]) => server.database.query(text, values);

async function upload(person: Person, text: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([text]), `${text}.txt`);
  const response = await fetch(`${server.url}/api/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}` },
    body: form,
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}
const carrying = (id: string) => ({ content: 'see', data: { files: [{ id }] } });

it('messages stay, shared resources pass to the heir, and the rest is deleted', async () => {
  const grants = [{ principal_type: 'user', principal_id: ann.id, permission: 'write' }];
  const { body: standard } = await as(root)('POST /channels/create', {
    name: 'standard',
    access_grants: grants,
  });
  const { body: crew } = await as(ann)('POST /channels/create', {
    type: 'group',
    name: 'crew',
    user_ids: [ben.id],
  });
  await rows('update channel set user_id = $1 where id = $2', ann.id, standard.id);
  await rows(
    `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
     values ('dice', $1, 'dice', '', '{"description": null, "manifest": {}}', '[]', 1, 1)`,
    ann.id,
  );
  const { body: hook } = await as(ann)(`POST /channels/${standard.id}/webhooks/create`, { name: 'hook' });
  const [shared, among, alone] = [
    await upload(ann, 'shared'),
    await upload(ann, 'among'),
    await upload(ann, 'alone'),
  ];
  const { body: message } = await as(ann)(`POST /channels/${standard.id}/messages/post`, carrying(shared));
  await as(ann)(`POST /channels/${crew.id}/messages/post`, carrying(among));
  const { body: group } = await as(root)('POST /groups/create', { name: 'makers', description: '' });
  await as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id] });

  expect((await as(other)(`DELETE /users/${ann.id}`)).body).toBe(true);

  const { body: messages } = await as(root)(`GET /channels/${standard.id}/messages`);
  expect(messages).toMatchObject([{ id: message.id, content: 'see', user_id: ann.id, user: null }]);
  expect((await as(other)(`GET /channels/${standard.id}`)).body.user_id).toBe(other.id);
  expect((await as(other)('GET /tools/id/dice')).body.user_id).toBe(other.id);
  const { body: hooks } = await as(root)(`GET /channels/${standard.id}/webhooks`);
  expect(hooks).toMatchObject([{ id: hook.id, user_id: other.id }]);
  expect((await as(root)(`GET /files/${shared}`)).body.user_id).toBe(other.id);
  // Ben is a reader of the group channel; the administrator who deletes the account is not.
  expect((await as(ben)(`GET /files/${among}`)).body.user_id).toBe(ben.id);
  expect((await as(other)(`GET /files/${among}`)).status).toBe(404);
  expect(await rows('select from file where id = $1', alone)).toEqual([]);
  expect((await as(ben)(`GET /channels/${crew.id}`)).body.is_manager).toBe(true);

  for (const table of [
    'session',
    'api_key',
    'group_member',
    'channel_member',
    'channel_reader',
    'identity',
  ]) {
    expect(await rows(`select from ${table} where user_id = $1`, ann.id)).toEqual([]);
  }
  expect(await rows('select from access_grant where principal_id = $1', ann.id)).toEqual([]);
  expect((await as(ann)('GET /auths')).status).toBe(401);
  const { body: audit } = await as(root)(`GET /audit?target=user:${ann.id}&action=user.delete`);
  expect(audit.entries).toMatchObject([
    {
      actor_id: other.id,
      before: { email: ann.email },
      after: { passed_to: other.id, tools: ['dice'], channels: [standard.id], webhooks: [hook.id] },
    },
  ]);
});

it('concurrent deletions and demotions leave one administrator of each pair, and always the oldest', async () => {
  for (let round = 0; round < 4; round++) {
    const one = await signUpAs(server, root, `One${round}`, 'admin');
    const two = await signUpAs(server, root, `Two${round}`, 'admin');
    const answers = await Promise.all([
      as(one)(`DELETE /users/${two.id}`),
      as(two)(`POST /users/${one.id}/update`, { role: 'user' }),
      as(one)(`DELETE /users/${root.id}`),
      as(two)(`POST /users/${root.id}/update`, { role: 'pending' }),
    ]);
    const done = answers.map(({ status }) => status === 200);
    expect([Number(done[0]) + Number(done[1]), done[2], done[3]]).toEqual([1, false, false]);
    const admins = await rows(`select id from users where role = 'admin' and id = any($1)`, [
      root.id,
      one.id,
      two.id,
    ]);
    expect(admins).toHaveLength(2);
  }
});

it('two concurrent deletions delete once', async () => {
  const gone = await signUpAs(server, root, 'Gone', 'user');
  const answers = await Promise.all([root, other].map((person) => as(person)(`DELETE /users/${gone.id}`)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
});
