import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../client/src/index.ts';
import { grant } from '../support/channels.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { GIF, PNG } from '../webhooks/pictures.ts';

/** The operations on one record: who may do them, what they answer, what they refuse. */
const provider = await startProvider('big', 'small');
const server = await startServer({ env: { EMBEDDED_MODEL: 'off' } });
afterAll(async () => {
  await server.close();
  await provider.close();
});
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');
const [asRoot, asAnn, asBen] = [root, ann, ben].map((person) => server.as(person)) as [
  ReturnType<typeof server.as>,
  ReturnType<typeof server.as>,
  ReturnType<typeof server.as>,
];
await connectProvider(server, root, provider);
const { body: tree } = await asRoot('GET /users/default/permissions');
/** Gives all members these permissions of the workspace. */
const permit = (...names: string[]) =>
  asRoot('POST /users/default/permissions', {
    ...tree,
    workspace: { ...tree.workspace, ...Object.fromEntries(names.map((name) => [name, true])) },
  });

const SECRET = 'Never mention the merger.';
const FORM = {
  id: 'team/helper:1',
  base_model_id: 'big',
  name: 'Helper',
  params: { system: SECRET, temperature: 0.2 },
  meta: { description: 'Helps', tags: [{ name: 'team' }], toolIds: ['clock'], other: { kept: [1] } },
};
const create = (members: object = {}, ask = asRoot) => ask('POST /models/create', { ...FORM, ...members });
const share = (...access_grants: object[]) =>
  asRoot('POST /models/model/access/update', { id: FORM.id, access_grants });
const get = (ask = asRoot, id = FORM.id) => ask(`GET /models/model?id=${encodeURIComponent(id)}`);
const update = (members: object, ask = asRoot) =>
  ask('POST /models/model/update', { ...FORM, base_model_id: undefined, ...members });
const FORBIDDEN = { status: 403, body: { code: 'forbidden' } };
const UNKNOWN = { status: 404, body: { code: 'model_not_found' } };

beforeEach(async () => {
  await permit();
  await server.database.query('delete from model');
  await server.database.query("delete from access_grant where resource_type = 'model'");
});

describe('reading', () => {
  it('gives prompts, parameters and grants to those alone who may change the record', async () => {
    await create();
    await share(grant(ann.id, 'write'), grant(ben.id, 'read'));
    const { body: whole } = await get(asAnn);
    expect(whole).toMatchObject({ ...FORM, user_id: root.id, is_active: true, write_access: true });
    expect(whole.access_grants).toHaveLength(2);
    expect(whole.user).toEqual({ id: root.id, name: 'Root', role: 'admin', email: '' });
    const { body: read } = await get(asBen);
    expect(read).toMatchObject({ name: 'Helper', params: {}, access_grants: [], write_access: false });
    const answers = await Promise.all(
      ['/models', '/models/list', '/models/tags'].map((at) => asBen(`GET ${at}`)),
    );
    expect(JSON.stringify([read, ...answers.map(({ body }) => body)])).not.toContain(SECRET);
    expect(answers[1]?.body).toMatchObject({ total: 1, items: [{ id: FORM.id, params: {} }] });
    expect(answers[2]?.body).toEqual(['team']);
  });

  it('answers for a forbidden record as for an unknown one', async () => {
    await create();
    const answers = await Promise.all([get(asBen), get(asBen, 'nothing')]);
    for (const answer of answers) expect(answer).toMatchObject(UNKNOWN);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    const calls = ['update', 'toggle', 'delete', 'access/update'].flatMap((what) =>
      [FORM.id, 'nothing'].map((id) =>
        asBen(`POST /models/model/${what}`, { ...FORM, id, access_grants: [] }),
      ),
    );
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject(UNKNOWN);
      expect(answer.body).toEqual(answers[0]?.body);
    }
  });

  it('needs an account that is let in', async () => {
    for (const path of ['/models', '/models/list', '/models/model?id=x', '/models/model/profile/image?id=x'])
      expect((await server.call(`GET ${path}`)).status).toBe(401);
  });
});

describe('making a record', () => {
  it('takes the permission, a base that the caller may use, and an id of its own', async () => {
    expect(await create({}, asAnn)).toMatchObject(FORBIDDEN);
    await permit('models');
    const forbidden = await create({}, asAnn);
    const unknown = await create({ base_model_id: 'nothing' }, asAnn);
    expect(forbidden).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(forbidden.body).toEqual(unknown.body);
    expect(await create({ base_model_id: null }, asAnn)).toMatchObject(FORBIDDEN);
    await asRoot('POST /models/model/access/update', { id: 'big', access_grants: [grant(ann.id, 'read')] });
    expect(await create({ id: 'small' }, asAnn)).toMatchObject({ status: 400, body: { code: 'id_taken' } });
    expect(await create({}, asAnn)).toMatchObject({ status: 200, body: { user_id: ann.id } });
    expect(await create({}, asAnn)).toMatchObject({ status: 400, body: { code: 'id_taken' } });
  });

  it('does not share it with everyone without the permission', async () => {
    await permit('models');
    await asRoot('POST /models/model/access/update', { id: 'big', access_grants: [grant('*', 'read')] });
    const { body } = await create({ access_grants: [grant('*', 'read'), grant(ben.id, 'read')] }, asAnn);
    expect(body.access_grants).toMatchObject([{ principal_id: ben.id, resource_type: 'model' }]);
  });

  it('drops a base that is the record itself', async () => {
    expect((await create({ id: 'small', base_model_id: 'small' })).body.base_model_id).toBeNull();
  });

  it('takes ids of 256 characters with slashes, in their case, and no white space', async () => {
    const id = `Vendor/${'x'.repeat(249)}`;
    expect((await create({ id })).status).toBe(200);
    expect((await get(asRoot, id)).body.id).toBe(id);
    expect((await get(asRoot, id.toLowerCase())).body.code).toBe('model_not_found');
    expect((await asRoot(`POST /models/model/toggle?id=${encodeURIComponent(id)}`)).body.is_active).toBe(
      false,
    );
    expect((await asRoot('POST /models/model/delete', { id })).body).toBe(true);
    for (const bad of [`${id}x`, 'a b', 'a\tb', '', 'a\u202eb', 7, null])
      expect(await create({ id: bad })).toMatchObject({ status: 400, body: { code: 'validation' } });
  });

  it.each([
    ['name', ''],
    ['name', 3],
    ['base_model_id', {}],
    ['params', []],
    ['params', { system: 3 }],
    ['params', { big: 'x'.repeat(300_000) }],
    ['meta', 'text'],
    ['meta', { tags: 'team' }],
    ['meta', { capabilities: { vision: 'yes' } }],
    ['meta', { toolIds: 'clock' }],
    ['meta', { profile_image_url: 'https://tracker.example/pixel.png' }],
    ['meta', { profile_image_url: '/api/v1/auths/signout' }],
    ['meta', { profile_image_url: 'data:image/svg+xml;base64,PHN2Zy8+' }],
    ['meta', { background_image_url: 'https://tracker.example/pixel.png' }],
    ['meta', { voice_avatar: '//tracker.example/pixel.png' }],
    ['access_grants', [{ principal_type: 'robot', principal_id: 'x', permission: 'read' }]],
    ['is_active', 'yes'],
  ])('refuses a wrong %s (%#)', async (member, value) => {
    expect(await create({ [member]: value })).toMatchObject({ status: 400, body: { code: 'validation' } });
  });
});

describe('changing a record', () => {
  it('keeps what is not sent of base, picture, state and grants', async () => {
    await create({ meta: { profile_image_url: PNG }, access_grants: [grant(ben.id, 'read')] });
    await asRoot(`POST /models/model/toggle?id=${encodeURIComponent(FORM.id)}`);
    const { body } = await update({ name: 'Other', params: {}, meta: {} });
    expect(body).toMatchObject({ name: 'Other', base_model_id: 'big', is_active: false, params: {} });
    expect(body.access_grants).toHaveLength(1);
    expect(await pictureOf(FORM.id)).toBe(PNG);
  });

  it('is for those with the right to write', async () => {
    await create();
    await share(grant(ann.id, 'write'), grant(ben.id, 'read'));
    expect((await update({ name: 'By Ann' }, asAnn)).body.name).toBe('By Ann');
    expect(await update({ name: 'By Ben' }, asBen)).toMatchObject(FORBIDDEN);
    for (const what of ['toggle', 'delete', 'access/update']) {
      const answer = await asBen(`POST /models/model/${what}`, { id: FORM.id, access_grants: [] });
      expect(answer).toMatchObject(FORBIDDEN);
    }
    // Another base must be one that the caller may use; the one that an administrator chose may stay.
    expect((await update({ base_model_id: 'big' }, asAnn)).status).toBe(200);
    expect((await update({ base_model_id: 'small' }, asAnn)).body.code).toBe('validation');
    expect(await update({ base_model_id: null }, asAnn)).toMatchObject(FORBIDDEN);
    expect((await asAnn('POST /models/model/delete', { id: FORM.id })).body).toBe(true);
    expect((await get()).status).toBe(404);
  });

  it('answers 409 when the record has changed since the caller read it', async () => {
    const { version_id } = (await create()).body;
    expect((await update({ name: 'First', version_id })).status).toBe(200);
    const late = await update({ name: 'Second', version_id });
    expect(late).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
    expect((await get()).body.name).toBe('First');
    const read = (await get()).body.version_id;
    const both = await Promise.all(['a', 'b'].map((name) => update({ name, version_id: read })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('is in the audit log, without prompts', async () => {
    await create();
    await update({ name: 'Other' });
    await asRoot('POST /models/model/toggle', { id: FORM.id });
    await asRoot('POST /models/model/delete', { id: FORM.id });
    const { body } = await asRoot('GET /audit?target=model');
    const entries = JSON.stringify(body);
    expect(entries).not.toContain(SECRET);
    const actions = ['model.delete', 'model.update', 'model.update', 'model.create'];
    expect(entries.match(/model\.(create|update|delete)/g)?.slice(0, 4)).toEqual(actions);
  });
});

describe('the picture', () => {
  it('is served as bytes that run nothing; those who may not read the model get the common one', async () => {
    await create({ meta: { profile_image_url: PNG } });
    const { body } = await get();
    expect(body.meta.profile_image_url).toBe('/api/v1/models/model/profile/image?id=team%2Fhelper%3A1');
    const response = await fetch(server.url + body.meta.profile_image_url, {
      headers: { authorization: `Bearer ${root.token}` },
    });
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    expect(await pictureOf(FORM.id, ann)).toBe(await pictureOf('nothing', ann));
    expect(await pictureOf(FORM.id, ann)).toContain('image/svg+xml');
  });

  it('stays when its path is sent back, and goes by null, the empty text and the default of Open WebUI', async () => {
    await create({ meta: { profile_image_url: PNG } });
    await update({ meta: (await get()).body.meta });
    expect(await pictureOf(FORM.id)).toBe(PNG);
    for (const none of [null, '', '/static/favicon.png']) {
      await update({ meta: { profile_image_url: GIF } });
      expect(await pictureOf(FORM.id)).toBe(GIF);
      await update({ meta: { profile_image_url: none } });
      expect(await pictureOf(FORM.id)).toContain('image/svg+xml');
    }
  });
});

async function pictureOf(id: string, person = root): Promise<string> {
  const path = `/api/models/model/profile/image?id=${encodeURIComponent(id)}`;
  const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${person.token}` } });
  const bytes = Buffer.from(await response.arrayBuffer());
  return `data:${response.headers.get('content-type')};base64,${bytes.toString('base64')}`;
}

describe('the list of records', () => {
  it('is searched, filtered, ordered, and cut into pages of thirty', async () => {
    await server.database.query(
      `insert into model (id, user_id, base_model_id, name, params, meta, created_at, updated_at)
       select 'm' || n, $1, 'big', 'Name ' || lpad(n::text, 2, '0'), '{"system":"x"}',
         case when n % 2 = 0 then '{"tags":[{"name":"even"}]}' else '{"tags":"broken"}' end::json, n, 100 - n
       from generate_series(1, 35) n`,
      [root.id],
    );
    await server.database.query(
      `insert into model_version (id, model_id, version, user_id, snapshot, created_at)
       select gen_random_uuid(), id, 1, user_id, '{}', 1 from model`,
    );
    await create({ id: 'small', base_model_id: null, meta: { tags: [{ name: 'base' }] } });
    await asRoot('POST /models/model/access/update', { id: 'm7', access_grants: [grant(ann.id, 'read')] });
    const list = async (query: string, ask = asRoot) => (await ask(`GET /models/list?${query}`)).body;
    const ids = async (query: string) =>
      (await list(query)).items.map(({ id }: { id: string }) => id) as string[];

    expect(await list('')).toMatchObject({ total: 35, items: { length: 30 } });
    expect(await list('page=2&order_by=name&direction=asc')).toMatchObject({
      total: 35,
      items: [{ name: 'Name 31' }, {}, {}, {}, { name: 'Name 35' }],
    });
    expect(await list('page=9')).toEqual({ total: 35, items: [] });
    expect((await ids('order_by=created_at&direction=desc')).slice(0, 2)).toEqual(['m35', 'm34']);
    expect((await ids(''))[0]).toBe('m1');
    expect(await ids('query=name%200&tag=even&order_by=name&direction=asc')).toEqual([
      'm2',
      'm4',
      'm6',
      'm8',
    ]);
    expect(await ids('query=%25')).toEqual([]);
    expect(await ids('view_option=shared')).toEqual([]);
    expect(await list('', asAnn)).toMatchObject({ total: 1, items: [{ id: 'm7', params: {} }] });
    expect((await list('view_option=created', asAnn)).total).toBe(0);
    for (const bad of ['page=0', 'order_by=params', 'direction=up', 'view_option=all'])
      expect((await asRoot(`GET /models/list?${bad}`)).status).toBe(400);

    expect((await asRoot('GET /models/tags')).body).toEqual(['even']);
    expect((await asRoot('GET /models/base/tags')).body).toEqual(['base']);
    expect((await asRoot('GET /models/all')).body).toHaveLength(36);
    for (const path of ['/models/base/tags', '/models/all'])
      expect((await asAnn(`GET ${path}`)).status).toBe(403);
  });
});

it('is reached by the typed client', async () => {
  const client = createClient({ url: server.url, token: root.token });
  const made = await client.api.models.create.mutate({ ...FORM });
  expect(await client.api.models.get.query({ id: FORM.id })).toEqual(made);
  await client.api.models.updateAccess.mutate({ id: FORM.id, access_grants: [grant('*', 'read')] });
  expect(await client.api.models.delete.mutate({ id: FORM.id })).toBe(true);
  await expect(client.api.models.get.query({ id: FORM.id })).rejects.toMatchObject({
    code: 'model_not_found',
  });
  await client.close();
});
