import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../client/src/index.ts';
import { grant } from '../support/channels.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

/** Who may use which model, as `GET /models` lists them. */
const provider = await startProvider('big', 'small', 'vendor/tiny:1b');
const server = await startServer({ env: { EMBEDDED_MODEL: 'off' } });
afterAll(async () => {
  await server.close();
  await provider.close();
});
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');
const asRoot = server.as(root);
await connectProvider(server, root, provider);

type Person = typeof root;
const modelsOf = async (person: Person) => (await server.as(person)('GET /models')).body.data;
const idsOf = async (person: Person): Promise<string[]> =>
  (await modelsOf(person)).map(({ id }: { id: string }) => id);
const make = (id: string, base_model_id: string | null, members: object = {}) =>
  asRoot('POST /models/create', { id, base_model_id, name: id, ...members });
const share = (id: string, ...access_grants: object[]) =>
  asRoot('POST /models/model/access/update', { id, access_grants });
const set = async (section: string, values: object) => {
  const { body } = await asRoot('GET /configs/export');
  Object.assign(body[section], values);
  expect((await asRoot('POST /configs/import', body)).status).toBe(200);
};
const PUBLIC = grant('*', 'read');

beforeEach(async () => {
  await server.database.query('delete from model');
  await server.database.query("delete from access_grant where resource_type = 'model'");
});

describe('a provider model without a record', () => {
  it('is for administrators', async () => {
    expect(await idsOf(root)).toEqual(['big', 'small', 'vendor/tiny:1b']);
    expect(await idsOf(ann)).toEqual([]);
  });

  it('is for all members where the configuration opens it', async () => {
    await set('models', { open_provider_models: true });
    expect(await idsOf(ann)).toEqual(['big', 'small', 'vendor/tiny:1b']);
    // A record decides from then on.
    await make('big', null);
    expect(await idsOf(ann)).toEqual(['small', 'vendor/tiny:1b']);
    await set('models', { open_provider_models: false });
  });

  it('is explained: administrators learn why it is closed, members only that of open ones', async () => {
    const explain = async (by: Person, user_id: string, resource_id: string, right = 'read') => {
      const query = new URLSearchParams({ user_id, resource_type: 'model', resource_id, right });
      const { status, body } = await server.as(by)(`GET /access/explain?${query}`);
      return [status, body.allowed, body.rule, body.detail];
    };
    const unknown = [404, undefined, undefined, 'There is no such model.'];
    const closed = 'The model big has no record, so it is for administrators.';
    expect(await explain(root, ann.id, 'big')).toEqual([200, false, 'none', closed]);
    expect((await explain(root, ann.id, 'big', 'write')).slice(0, 3)).toEqual([200, false, 'none']);
    expect((await explain(root, root.id, 'big')).slice(0, 3)).toEqual([200, true, 'administrator']);
    expect(await explain(ann, ann.id, 'big')).toEqual(unknown);
    expect(await explain(root, ann.id, 'gone')).toEqual(unknown);
    await set('models', { open_provider_models: true });
    expect((await explain(ann, ann.id, 'big')).slice(0, 3)).toEqual([200, true, 'default']);
    await set('models', { open_provider_models: false });
  });

  it('gets a record by its first grants, from administrators alone', async () => {
    const refused = await server.as(ann)('POST /models/model/access/update', {
      id: 'vendor/tiny:1b',
      access_grants: [PUBLIC],
    });
    expect(refused.body.code).toBe('model_not_found');
    const { body } = await share('vendor/tiny:1b', PUBLIC);
    expect(body).toMatchObject({ id: 'vendor/tiny:1b', base_model_id: null, params: {}, user_id: root.id });
    expect(await idsOf(ann)).toEqual(['vendor/tiny:1b']);
    expect((await share('no such model', PUBLIC)).body.code).toBe('model_not_found');
  });

  it('is hidden, from administrators too, by a record that is off', async () => {
    await make('big', null);
    await asRoot('POST /models/model/toggle?id=big');
    expect(await idsOf(root)).toEqual(['small', 'vendor/tiny:1b']);
    expect((await asRoot('GET /models/all')).body).toMatchObject([{ id: 'big', is_active: false }]);
    await asRoot('POST /models/model/toggle?id=big');
    expect(await idsOf(root)).toContain('big');
  });
});

describe('a record', () => {
  it.each([
    ['everyone', () => PUBLIC],
    ['an account', () => grant(ann.id, 'read')],
    ['an account that may change it', () => grant(ann.id, 'write')],
  ])('is for those whom a grant to %s names', async (_to, given) => {
    await make('helper', 'big');
    expect(await idsOf(ann)).toEqual([]);
    await share('helper', given());
    expect(await idsOf(ann)).toEqual(['helper']);
  });

  it('is for members of a group with a grant', async () => {
    const { body: group } = await asRoot('POST /groups/create', { name: 'makers', description: '' });
    await make('helper', 'big');
    await share('helper', grant(group.id, 'read', 'group'));
    expect(await idsOf(ann)).toEqual([]);
    await asRoot(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id] });
    expect(await idsOf(ann)).toEqual(['helper']);
    expect(await idsOf(ben)).toEqual([]);
  });

  it('does not open a base that the caller may not read, however long the way', async () => {
    await make('big', null);
    await make('middle', 'big');
    await make('top', 'middle');
    await share('top', PUBLIC);
    expect(await idsOf(ann)).toEqual([]);
    await share('middle', PUBLIC);
    expect(await idsOf(ann)).toEqual([]);
    await share('big', grant(ann.id, 'read'));
    expect(await idsOf(ann)).toEqual(['big', 'middle', 'top']);
    expect(await idsOf(ben)).toEqual([]);
  });

  it('ends with a base that is off or gone', async () => {
    await make('big', null);
    await make('top', 'big');
    await make('lost', 'no-longer-there');
    expect(await idsOf(root)).not.toContain('lost');
    expect(await idsOf(root)).toContain('top');
    await asRoot('POST /models/model/toggle?id=big');
    expect(await idsOf(root)).toEqual(['small', 'vendor/tiny:1b']);
  });

  it('opens a base without a record where an administrator chose that base', async () => {
    await asRoot('POST /users/default/permissions', permissions({ models: true }));
    await set('models', { open_provider_models: true });
    const mine = await server.as(ann)('POST /models/create', {
      id: 'mine',
      base_model_id: 'big',
      name: 'Mine',
      access_grants: [grant(ben.id, 'read')],
    });
    expect(mine.status).toBe(200);
    await make('helper', 'big');
    await share('helper', PUBLIC);
    expect(await idsOf(ben)).toEqual(['big', 'helper', 'mine', 'small', 'vendor/tiny:1b']);
    await set('models', { open_provider_models: false });
    expect(await idsOf(ben)).toEqual(['helper']);
    expect(await idsOf(ann)).toEqual(['helper']);
    await asRoot('POST /users/default/permissions', permissions({ models: false }));
  });

  it('of a member does not take the place of a provider model that comes to have its id', async () => {
    await server.database.query(
      `insert into model (id, user_id, base_model_id, name, params, meta, created_at, updated_at)
       values ('small', $1, 'big', 'Mine', '{}', '{}', 1, 1)`,
      [ann.id],
    );
    const models = await modelsOf(root);
    expect(models.find(({ id }: { id: string }) => id === 'small')).toMatchObject({ name: 'small' });
    expect(await idsOf(ann)).toEqual([]);
  });

  it('in a circle is no model, and lists go on', async () => {
    await make('one', 'big');
    await make('two', 'one');
    const refused = await asRoot('POST /models/model/update', {
      id: 'one',
      name: 'one',
      base_model_id: 'two',
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(refused.body.detail).toContain('leads back to this model');
    await server.database.query("update model set base_model_id = 'two' where id = 'one'");
    expect(await idsOf(root)).toEqual(['big', 'small', 'vendor/tiny:1b']);
    expect((await asRoot('GET /models/model?id=one')).status).toBe(200);
  });
});

describe('the list', () => {
  it('has the shape that clients of Open WebUI read, without prompts and parameters', async () => {
    await set('models', {
      default_metadata: { capabilities: { vision: false, web_search: true }, note: 'x' },
    });
    await make('helper', 'big', {
      name: 'Helper',
      params: { system: 'SECRET', temperature: 0 },
      meta: { description: 'Helps', tags: [{ name: 'team' }], capabilities: { vision: true } },
    });
    await share('helper', PUBLIC);
    const [helper] = await modelsOf(ann);
    expect(helper).toMatchObject({
      id: 'helper',
      name: 'Helper',
      object: 'model',
      owned_by: 'openai',
      connection_type: 'external',
      tags: [{ name: 'team' }],
      preset: true,
      info: {
        id: 'helper',
        base_model_id: 'big',
        user_id: root.id,
        is_active: true,
        meta: { description: 'Helps', capabilities: { vision: true, web_search: true }, note: 'x' },
      },
    });
    expect(JSON.stringify(await modelsOf(root))).not.toContain('SECRET');
    expect(helper.info).not.toHaveProperty('params');
    const [big] = await modelsOf(root);
    expect(big).toMatchObject({ id: 'big', info: { meta: { note: 'x' } } });
    expect(big).not.toHaveProperty('preset');
    await set('models', { default_metadata: {} });
  });

  it('is in the configured order, then by name', async () => {
    await make('a', 'big', { name: 'Zebra' });
    await make('b', 'big', { name: 'ant' });
    await set('ui', { model_order_list: ['small', 'gone', 'a'] });
    expect(await idsOf(root)).toEqual(['small', 'a', 'b', 'big', 'vendor/tiny:1b']);
    await set('ui', { model_order_list: [] });
  });

  it('takes one statement, however many models there are', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await make(id, 'big');
    expect(await recordStatements(() => idsOf(ann))).toHaveLength(1);
    expect(await recordStatements(() => idsOf(root))).toHaveLength(1);
  });

  it('comes through the typed client', async () => {
    await share('big', PUBLIC);
    const client = createClient({ url: server.url, token: ann.token });
    const { data } = await client.api.models.list.query({});
    expect(data.map(({ id, object }) => [id, object])).toEqual([['big', 'model']]);
    await client.close();
  });

  it('of the connections is for administrators, and names the connections', async () => {
    await make('big', null, { name: 'Renamed' });
    const { body } = await asRoot('GET /models/base');
    expect(body.data).toMatchObject([
      { id: 'big', name: 'big', is_on_board: false, openai: { id: 'big', owned_by: 'test' } },
      { id: 'small' },
      { id: 'vendor/tiny:1b' },
    ]);
    expect(body.data[0].connections).toHaveLength(1);
    expect((await server.as(ann)('GET /models/base')).status).toBe(403);
  });
});

it('is explained and previewed by the same rules, with ids in their case', async () => {
  await make('Helper', 'big');
  await make('helper', 'big');
  await share('Helper', grant(ann.id, 'read'));
  const explain = (id: string, right = 'read') =>
    asRoot(`GET /access/explain?user_id=${ann.id}&resource_type=model&resource_id=${id}&right=${right}`);
  expect((await explain('Helper')).body).toMatchObject({ allowed: true, rule: 'grant' });
  expect((await explain('Helper', 'write')).body).toMatchObject({ allowed: false });
  expect((await explain('helper')).body).toMatchObject({ allowed: false });
  await make('small', null);
  await make('over', 'small');
  await share('over', PUBLIC);
  expect((await explain('over')).body).toMatchObject({
    allowed: false,
    rule: 'barred',
    detail: 'They may not read the model small.',
  });
  await share('small', PUBLIC);
  expect((await explain('over')).body).toMatchObject({ allowed: true, rule: 'everyone' });
  await asRoot('POST /models/model/toggle?id=small');
  expect((await explain('over')).body.detail).toBe('The model small is switched off.');
  await server.database.query("delete from model where id in ('small', 'over')");
  const { body } = await asRoot(`GET /users/${ann.id}/preview`);
  expect(body.models).toEqual({ items: [{ id: 'Helper', name: 'Helper' }], total: 2 });
});

function permissions(workspace: Record<string, boolean>) {
  return {
    workspace,
    sharing: {},
    access_grants: { allow_users: true },
    chat: {},
    features: {},
    settings: {},
  };
}
