import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { findModels, resolveModel } from '../../src/models/models.resolve.ts';
import { partsOfServer, runTurn, scopeOf } from '../completions/engine.ts';
import { grant } from '../support/channels.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

/** What a call of a model gets: its provider model, prompt, parameters, tools. */
const provider = await startProvider('big', 'small');
const { kind, capture } = partsOfServer();
const server = await startServer({ env: { EMBEDDED_MODEL: 'off' }, jobKinds: [kind] });
afterAll(async () => {
  await server.close();
  await provider.close();
});
const [root, ann] = await signUpAll(server, 'Root', 'Ann');
const asRoot = server.as(root);
await connectProvider(server, root, provider);
const parts = await capture(server.database);
const [administrator, member] = [scopeOf(parts, root, 'admin'), scopeOf(parts, ann, 'user')];

const make = (id: string, base_model_id: string | null, members: object = {}) =>
  asRoot('POST /models/create', { id, base_model_id, name: `The ${id}`, ...members });
const PUBLIC = { access_grants: [grant('*', 'read')] };
const setDefaults = async (values: object) => {
  const { body } = await asRoot('GET /configs/export');
  Object.assign(body.models, { default_params: {}, default_metadata: {}, ...values });
  expect((await asRoot('POST /configs/import', body)).status).toBe(200);
};

beforeEach(async () => {
  await server.database.query('delete from model');
  await server.database.query("delete from access_grant where resource_type = 'model'");
});

describe('a model', () => {
  it('has the parameters of the configuration, of its bases, and its own, in this order', async () => {
    await setDefaults({
      default_params: { temperature: 0, top_p: 0, seed: 0, system: 'Default' },
      default_metadata: { capabilities: { vision: false } },
    });
    await make('big', null, { params: { top_p: 1, seed: 1, system: 'Base' }, meta: { toolIds: ['base'] } });
    await make('top', 'big', {
      params: {
        seed: 2,
        system: '',
        max_tokens: null,
        custom_params: { seed: '3', note: 'text', list: '[1]' },
      },
      meta: { toolIds: ['clock', 'clock'], capabilities: { vision: true, tools: false } },
    });
    const model = await resolveModel(administrator, 'top');
    expect(model).toMatchObject({
      id: 'top',
      name: 'The top',
      provider: { id: 'big' },
      system: 'Base',
      params: { temperature: 0, top_p: 1, seed: 3, note: 'text', list: [1] },
      toolIds: ['clock'],
      capabilities: { vision: true, tools: false },
    });
    await make('over', 'top', { params: { system: 'Own' } });
    expect((await resolveModel(administrator, 'over')).system).toBe('Base\n\nOwn');
    const plain = await resolveModel(administrator, 'small');
    expect(plain).toMatchObject({ name: 'small', system: 'Default', toolIds: [], params: { seed: 0 } });
    expect(plain.capabilities).toEqual({ vision: false, tools: true });
    await setDefaults({});
  });

  it('sends a provider neither parameters of this server nor another model than the one that was checked', async () => {
    const own = {
      ...{
        function_calling: 'native',
        stream_response: false,
        stream_delta_chunk_size: 1,
        reasoning_tags: false,
      },
      ...{ compact_token_threshold: 1, tool_approval_mode: 'ask', note_id: 'x', model_controls: { a: {} } },
      ...{
        model: 'small',
        models: ['small'],
        messages: [],
        stream: false,
        user: 'x',
        tools: [],
        tool_choice: 'none',
        n: 2,
      },
    };
    const params = {
      ...own,
      system: 'You serve {{USER_NAME}}.',
      top_k: 7,
      custom_params: { ...own, min_p: '0.1' },
    };
    await make('helper', 'big', { params, ...PUBLIC });
    expect(Object.keys((await resolveModel(member, 'helper')).params).sort()).toEqual(['min_p', 'top_k']);
    const elsewhere = { models: ['small'], fallbacks: ['small'] };
    await runTurn(member, member, { model: 'helper', params: { ...elsewhere, custom_params: elsewhere } });
    const { body } = provider.chats().at(-1) ?? {};
    expect(body).toMatchObject({ model: 'big', stream: true, top_k: 7, min_p: 0.1 });
    expect(body.messages[0]).toEqual({ role: 'system', content: 'You serve Ann.' });
    const sent = Object.keys(body);
    for (const name of [
      'system',
      'function_calling',
      'models',
      'fallbacks',
      'note_id',
      'model_controls',
      'custom_params',
    ])
      expect(sent).not.toContain(name);
  });

  it('is unknown when the caller may not use one model on the way, when one is off, and in a circle', async () => {
    await make('big', null);
    await make('middle', 'big', PUBLIC);
    await make('top', 'middle', PUBLIC);
    await make('other', 'small', PUBLIC);
    for (const id of ['top', 'middle', 'big', 'small', 'nothing', '', '\0', '\ud800'])
      await expect(resolveModel(member, id)).rejects.toMatchObject({ code: 'model_not_found' });
    expect(await resolveModel(member, 'other')).toMatchObject({ provider: { id: 'small' } });
    expect(await resolveModel(administrator, 'top')).toMatchObject({ provider: { id: 'big' } });
    await asRoot('POST /models/model/toggle?id=middle');
    await expect(resolveModel(administrator, 'top')).rejects.toMatchObject({ code: 'model_not_found' });
    await server.database.query(
      "update model set is_active = true, base_model_id = 'top' where id = 'middle'",
    );
    await expect(resolveModel(administrator, 'top')).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('has at most ten records on the way to its provider', async () => {
    await make('m1', 'big');
    for (let n = 2; n <= 10; n += 1) expect((await make(`m${n}`, `m${n - 1}`)).status).toBe(200);
    expect(await resolveModel(administrator, 'm10')).toMatchObject({ provider: { id: 'big' } });
    expect((await make('m11', 'm10')).status).toBe(400);
    await server.database.query(
      `insert into model select 'm11', user_id, 'm10', true, name, params, meta, null, true, 1, 1, 1 from model where id = 'm1'`,
    );
    await expect(resolveModel(administrator, 'm11')).rejects.toMatchObject({ code: 'model_not_found' });
  });
});

it('finds those of many ids that the caller may use, with their names', async () => {
  await make('helper', 'big', PUBLIC);
  await make('hidden', 'big');
  const ids = ['helper', 'hidden', 'big', 'small', 'nothing'];
  expect(await findModels(member, ids)).toEqual(new Map([['helper', { name: 'The helper' }]]));
  expect([...(await findModels(administrator, ids)).keys()]).toEqual(['helper', 'hidden', 'big', 'small']);
  expect(await findModels(member, [])).toEqual(new Map());
});

it('takes one statement to resolve a model and to find many', async () => {
  await make('middle', 'big', PUBLIC);
  await make('top', 'middle', PUBLIC);
  expect(await recordStatements(() => resolveModel(member, 'top'))).toHaveLength(1);
  expect(await recordStatements(() => findModels(member, ['top', 'middle', 'nothing']))).toHaveLength(1);
});
