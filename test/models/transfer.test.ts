import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { NOWHERE } from '../support/doors.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { signUp, signUpAll, startServer } from '../support/server.ts';
import { PNG } from '../webhooks/pictures.ts';

/** Versions of records, exports and imports, and what becomes of records of a deleted account. */
const provider = await startProvider('big', 'small');
const server = await startServer({ env: { EMBEDDED_MODEL: 'off' } });
afterAll(async () => {
  await server.close();
  await provider.close();
});
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');
const [asRoot, asAnn, asBen] = [server.as(root), server.as(ann), server.as(ben)];
await connectProvider(server, root, provider);
const { body: tree } = await asRoot('GET /users/default/permissions');
const permit = (...names: string[]) =>
  asRoot('POST /users/default/permissions', {
    ...tree,
    workspace: { ...tree.workspace, ...Object.fromEntries(names.map((name) => [name, true])) },
  });
const create = (id: string, members: object = {}) =>
  asRoot('POST /models/create', { id, base_model_id: 'big', name: id, ...members });
const share = (id: string, ...access_grants: object[]) =>
  asRoot('POST /models/model/access/update', { id, access_grants });
const get = async (id: string) => (await asRoot(`GET /models/model?id=${id}`)).body;

beforeEach(async () => {
  await permit();
  await server.database.query('delete from model');
  await server.database.query("delete from access_grant where resource_type = 'model'");
});

describe('versions', () => {
  const history = async (ask = asRoot, id = 'helper') =>
    (await ask(`GET /models/model/history?id=${id}`)).body;
  const change = (members: object, ask = asRoot) =>
    ask('POST /models/model/update', { id: 'helper', name: 'helper', ...members });

  it('are kept of name, base, prompt, parameters and metadata, and can be restored', async () => {
    await create('helper', { params: { system: 'First' }, commit_message: 'made' });
    await change({ params: { system: 'Second' }, commit_message: 'firmer' });
    await asRoot('POST /models/model/toggle?id=helper');
    await share('helper', grant(ann.id, 'write'));
    const versions = await history();
    expect(versions).toMatchObject([
      { commit_message: 'firmer', is_current: true, snapshot: { params: { system: 'Second' } } },
      {
        commit_message: 'made',
        is_current: false,
        user: { id: root.id, name: 'Root' },
        snapshot: { params: { system: 'First' }, base_model_id: 'big', name: 'helper', meta: {} },
      },
    ]);
    const [, first] = versions;
    expect((await asAnn(`GET /models/model/history/${first.id}`)).body).toEqual(first);
    const { body } = await asAnn('POST /models/model/update/version?id=helper', { version_id: first.id });
    expect(body).toMatchObject({ params: { system: 'First' }, is_active: false, base_model_id: 'big' });
    expect(body.access_grants).toHaveLength(1);
    expect(await history()).toHaveLength(3);
    expect(body.version_id).toBe((await history())[0].id);
  });

  it('are for those who may change the record', async () => {
    await create('helper', { params: { system: 'SECRET' }, access_grants: [grant(ben.id, 'read')] });
    const [version] = await history();
    expect(await history(asBen)).toMatchObject({ code: 'forbidden' });
    expect(await history(asAnn)).toMatchObject({ code: 'model_not_found' });
    const forbidden = await asBen(`GET /models/model/history/${version.id}`);
    const unknown = await asBen(`GET /models/model/history/${NOWHERE}`);
    expect(forbidden).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(forbidden.body).toEqual(unknown.body);
    expect((await asBen(`DELETE /models/model/history/${version.id}`)).status).toBe(404);
    const restored = await asBen('POST /models/model/update/version?id=helper', { version_id: version.id });
    expect(restored.status).toBe(403);
  });

  it('of another record are not restored, and those in force are not deleted', async () => {
    await create('helper');
    await create('other');
    const [other] = await history(asRoot, 'other');
    const restore = (version_id: string) =>
      asRoot('POST /models/model/update/version?id=helper', { version_id });
    expect((await restore(other.id)).status).toBe(404);
    await change({ name: 'Changed' });
    const [current, first] = await history();
    expect((await asRoot(`DELETE /models/model/history/${current.id}`)).status).toBe(400);
    expect((await asRoot(`DELETE /models/model/history/${first.id}`)).body).toBe(true);
    expect((await restore(first.id)).status).toBe(404);
    expect(await history()).toHaveLength(1);
  });

  it('restore a base only for callers who may use it', async () => {
    await create('helper', { base_model_id: 'small' });
    await change({ base_model_id: 'big' });
    await share('helper', grant(ann.id, 'write'));
    const [, first] = await history();
    const { body } = await asAnn('POST /models/model/update/version?id=helper', { version_id: first.id });
    expect(body.code).toBe('validation');
    expect(await get('helper')).toMatchObject({ base_model_id: 'big' });
  });
});

describe('an export', () => {
  it('has the records that the caller may change, whole, for those with the permission', async () => {
    await create('helper', { params: { system: 'First' }, meta: { profile_image_url: PNG } });
    await create('readable', { access_grants: [grant(ann.id, 'read')] });
    await share('helper', grant(ann.id, 'write'));
    expect((await asAnn('GET /models/export')).status).toBe(403);
    await permit('models_export');
    const { body } = await asAnn('GET /models/export');
    expect(body).toMatchObject([
      { id: 'helper', params: { system: 'First' }, meta: { profile_image_url: PNG }, user_id: root.id },
    ]);
    const missing = ['readable', 'nothing'].map((id) => asAnn(`GET /models/export?ids=helper&ids=${id}`));
    for (const answer of await Promise.all(missing))
      expect(answer).toMatchObject({ status: 404, body: { code: 'model_not_found' } });
    expect((await asRoot('GET /models/export?ids=readable')).body).toHaveLength(1);
  });

  it('without records is taken by an import, which changes nothing', async () => {
    expect((await asRoot('POST /models/import', { models: [] })).body).toEqual({ items: [] });
  });

  it('is taken by an import', async () => {
    await create('helper', { params: { system: 'First' }, meta: { profile_image_url: PNG, a: [1] } });
    const { body: models } = await asRoot('GET /models/export');
    await asRoot('POST /models/model/delete', { id: 'helper' });
    const { body } = await asRoot('POST /models/import', { models });
    expect(body.items).toEqual([{ id: 'helper', name: 'helper', outcome: 'stored', reason: null }]);
    const { body: again } = await asRoot('GET /models/export');
    expect(again[0]).toMatchObject({ params: { system: 'First' }, meta: { profile_image_url: PNG, a: [1] } });
  });
});

describe('an import', () => {
  const load = (models: unknown[], ask = asAnn) => ask('POST /models/import', { models });

  it('never overwrites what the caller may not change, and names each refused entry', async () => {
    await share('big', grant(ann.id, 'read'));
    await create('hidden', { params: { system: 'First' } });
    await create('readable', { access_grants: [grant(ann.id, 'read')] });
    await create('shared', { meta: { a: 1, b: 1 }, params: { seed: 1, top_p: 1 } });
    await share('shared', grant(ann.id, 'write'));
    expect((await load([{ id: 'x', name: 'x' }])).status).toBe(403);
    await permit('models_import');
    const entry = (id: string, members: object = {}) => ({
      id,
      name: 'Loaded',
      base_model_id: 'big',
      ...members,
    });
    const { status, body } = await load([
      entry('hidden', { params: { system: 'Taken over' } }),
      entry('readable'),
      entry('shared', {
        meta: { b: 2 },
        params: { seed: 2 },
        user_id: ann.id,
        access_grants: [grant('*', 'write')],
      }),
      entry('mine', {
        access_grants: [grant('*', 'write')],
        meta: { profile_image_url: 'https://a.example/b.png' },
      }),
      entry('mine-2', { base_model_id: 'small' }),
      entry('mine-3', { base_model_id: null }),
      entry('small'),
      { name: 'without an id' },
      'no model at all',
      entry('wrong', { params: { system: 7 } }),
    ]);
    expect(status).toBe(200);
    const outcomes = body.items.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]);
    expect(outcomes).toEqual([
      ['hidden', 'refused'],
      ['readable', 'refused'],
      ['shared', 'stored'],
      ['mine', 'stored'],
      ['mine-2', 'refused'],
      ['mine-3', 'refused'],
      ['small', 'refused'],
      [null, 'refused'],
      [null, 'refused'],
      ['wrong', 'refused'],
    ]);
    for (const { outcome, reason } of body.items) expect(Boolean(reason)).toBe(outcome === 'refused');
    expect(body.items[3].warnings).toEqual([expect.stringContaining('profile_image_url')]);
    expect(await get('hidden')).toMatchObject({ name: 'hidden', params: { system: 'First' } });
    expect(await get('shared')).toMatchObject({
      name: 'Loaded',
      user_id: root.id,
      params: { seed: 2 },
      meta: { a: 1, b: 2 },
    });
    expect((await get('shared')).params).toEqual({ seed: 2 });
    expect(await get('mine')).toMatchObject({ user_id: ann.id, access_grants: [] });
  });

  it.each([[{}], [{ models: 'x' }], [{ models: Array(501).fill({}) }]])(
    'refuses the form (%#)',
    async (form) => {
      expect((await asRoot('POST /models/import', form)).status).toBe(400);
    },
  );
});

describe('sync', () => {
  it('makes the records those of the list, and is for administrators', async () => {
    await create('old');
    await create('kept', { params: { seed: 1 } });
    const models = [
      { id: 'kept', name: 'Kept', base_model_id: 'big', access_grants: [grant(ann.id, 'read')] },
      { id: 'new', name: 'New', base_model_id: 'kept', meta: { profile_image_url: PNG } },
    ];
    expect((await asAnn('POST /models/sync', { models })).status).toBe(403);
    const { body } = await asRoot('POST /models/sync', { models });
    expect(body).toMatchObject([
      { id: 'kept', name: 'Kept', params: {}, access_grants: [{ principal_id: ann.id }] },
      { id: 'new', base_model_id: 'kept' },
    ]);
    expect(body).toHaveLength(2);
  });

  it('changes nothing when an entry is wrong', async () => {
    await create('old');
    const refused = await asRoot('POST /models/sync', {
      models: [
        { id: 'new', name: 'New' },
        { id: 'a b', name: 'Bad' },
      ],
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(refused.body.detail).toContain('models.1.id');
    const circle = await asRoot('POST /models/sync', {
      models: [
        { id: 'one', name: 'One', base_model_id: 'two' },
        { id: 'two', name: 'Two', base_model_id: 'one' },
      ],
    });
    expect(circle.status).toBe(400);
    expect((await asRoot('GET /models/all')).body).toMatchObject([{ id: 'old' }]);
  });
});

it('passes the records of a deleted account to the administrator who deletes it', async () => {
  const gone = await signUp(server, 'Gone');
  await create('helper', { access_grants: [grant(ben.id, 'read'), grant(gone.id, 'write')] });
  await server.database.query("update model set user_id = $1 where id = 'helper'", [gone.id]);
  expect((await asRoot(`DELETE /users/${gone.id}`)).status).toBe(200);
  expect(await get('helper')).toMatchObject({ user_id: root.id, access_grants: [{ principal_id: ben.id }] });
  expect((await asBen('GET /models')).body.data).toMatchObject([{ id: 'helper' }]);
});

it('counts to the room of its owner', async () => {
  const { body } = await asRoot('GET /configs/export');
  await asRoot('POST /configs/import', { ...body, limits: { ...body.limits, storage_bytes: 20_000 } });
  const answers = [];
  for (const seed of [1, 2, 3])
    answers.push(await create('helper', { id: `m${seed}`, meta: { text: 'x'.repeat(9_000) } }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 507]);
  await asRoot('POST /configs/import', body);
});
