import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { chat, configure, limitTo, openProvider } from './usage.ts';

const server = await startServer({ env: { LOG_LEVEL: 'silent' } });
const [root, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
const provider = await openProvider(server, root, 'small', 'large');
const { query } = server.database;

afterAll(async () => {
  await server.close();
  await provider.close();
});

beforeEach(async () => {
  await query('truncate usage_call, usage_counter, usage_hold');
  provider.script((_, wire) => wire.say('Hello there.'));
});

const lastCall = async () => (await query('select * from usage_call order by id desc limit 1'))[0];
const countCalls = async () =>
  (await query<{ n: number }>('select count(*)::int as n from usage_call'))[0]?.n;
const holds = () => query('select * from usage_hold');
const today = () => new Date().toISOString().slice(0, 10);

describe('A call of a model is recorded', () => {
  it('with its person, model, connection, tokens, times and outcome', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60 },
    };
    provider.script((_, wire) => {
      wire.delta({ content: 'Hello' });
      wire.finish('stop', usage);
    });
    await configure(server, root, (config) => {
      config.usage.prices = { 's*': { in: 10_000, cached: 1_000, out: 100_000 } };
    });
    expect((await chat(server, ann)).status).toBe(200);
    expect(await lastCall()).toMatchObject({
      user_id: ann.id,
      model: 'small',
      provider_model: 'small',
      connection: 'Provider 1',
      kind: 'api',
      tokens_in: 100,
      tokens_cached: 60,
      tokens_out: 20,
      is_estimated: false,
      cost: expect.closeTo(0.4 + 0.06 + 2),
      first_token_ms: expect.any(Number),
      total_ms: expect.any(Number),
      rounds: 1,
      outcome: 'ok',
    });
  });

  it('with estimated tokens when the provider counts none', async () => {
    provider.script((_, wire) => {
      wire.delta({ content: 'x'.repeat(400) }, 'stop');
      wire.line('[DONE]');
      wire.end();
    });
    await chat(server, ann, { messages: [{ role: 'user', content: 'y'.repeat(800) }] });
    expect(await lastCall()).toMatchObject({ tokens_in: 200, tokens_out: 100, is_estimated: true });
  });

  it('with estimated tokens also of texts and calls that are no texts', async () => {
    await limitTo(server, root, { scope: 'user', tokens: 5_000, per: 'day' });
    provider.script((_, wire) => {
      wire.delta({ content: 'Hello' }, 'stop');
      wire.line('[DONE]');
      wire.end();
    });
    for (const text of [null, { a: 1 }, 'four']) {
      const content = [{ type: 'text', text }];
      const { status } = await chat(server, ann, { messages: [{ role: 'user', content, tool_calls: null }] });
      expect(status).toBe(200);
      expect(await lastCall()).toMatchObject({ tokens_out: 2, is_estimated: true });
    }
    await limitTo(server, root);
  });

  it('with the error of the provider, and no tokens before the first one', async () => {
    provider.script((_, wire) => wire.json(500, { error: { message: 'broken' } }));
    await chat(server, ann);
    expect(await lastCall()).toMatchObject({ outcome: 'provider_failed', tokens_in: 0, connection: null });
  });

  it('as cancelled when the client has gone', async () => {
    provider.script((_, wire) => wire.delta({ content: 'Hello' }));
    const over = new AbortController();
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
      signal: over.signal,
    });
    await answer.body?.getReader().read();
    over.abort();
    await until('the record', async () => (await lastCall())?.outcome === 'cancelled');
  });

  it('also for embeddings whose tokens the provider counts in a strange way', async () => {
    const data = [{ object: 'embedding', index: 0, embedding: [1] }];
    for (const [prompt_tokens, tokens_in, is_estimated] of [
      [2.5, 3, false],
      ['many', 1, true],
      [1e12, 1, true],
    ]) {
      provider.scriptEmbeddings((_request, wire) => wire.json(200, { data, usage: { prompt_tokens } }));
      const { status } = await server.as(ann)('POST /embeddings', { model: 'small', input: 'one' });
      expect(status).toBe(200);
      expect(await lastCall()).toMatchObject({ kind: 'embedding', tokens_in, is_estimated });
    }
    provider.scriptEmbeddings(null);
  });

  it('also for embeddings', async () => {
    const { status } = await server.as(ann)('POST /embeddings', { model: 'small', input: ['one', 'two'] });
    expect(status).toBe(200);
    expect(await lastCall()).toMatchObject({ kind: 'embedding', tokens_in: 3, tokens_out: 0, outcome: 'ok' });
  });

  it('in one statement at the end, and without limits in none before', async () => {
    const statements = await recordStatements(() => chat(server, ann));
    expect(statements).toEqual([
      expect.stringContaining('base_model_id'),
      expect.stringMatching(/^insert into usage_call/),
    ]);
  });

  it('in metrics by connection', async () => {
    const before = await scrape(server.url, root.token);
    await chat(server, ann);
    const after = await scrape(server.url, root.token);
    const { connection } = (await lastCall()) as { connection: string };
    const grown = (name: string, labels: object) => {
      const all = { connection, ...labels };
      return after.value(name, all) - before.value(name, all);
    };
    expect(grown('parley_model_calls_total', { outcome: 'ok' })).toBe(1);
    expect(grown('parley_model_tokens_total', { kind: 'in' })).toBe(10);
    expect(grown('parley_model_tokens_total', { kind: 'out' })).toBe(5);
  });
});

describe('The sums of calls', () => {
  const sumsOf = async (person: Person, path: string) =>
    (await server.as(person)(`GET /usage/${path}`)).body.items;

  it('are by day, split by what the administrator asks for', async () => {
    await chat(server, ann);
    await chat(server, ann, { model: 'large' });
    await chat(server, bob);
    const sum = (key: string, name: string | null, calls: number) =>
      expect.objectContaining({
        day: today(),
        key,
        name,
        calls,
        tokens_in: 10 * calls,
        tokens_out: 5 * calls,
      });
    expect(await sumsOf(root, 'days?by=user')).toEqual([sum(ann.id, 'Ann', 2), sum(bob.id, 'Bob', 1)]);
    expect(await sumsOf(root, 'days')).toEqual(
      expect.arrayContaining([sum('small', null, 2), sum('large', null, 1)]),
    );
    expect(await sumsOf(root, 'days?by=none&model=large')).toEqual([
      expect.objectContaining({ key: null, calls: 1, failed: 0 }),
    ]);
    expect(await sumsOf(root, `days?first=2020-01-01&last=2020-02-01`)).toEqual([]);
    expect(await sumsOf(root, `days?user_id=${bob.id}&by=kind`)).toEqual([sum('api', null, 1)]);
  });

  it('are for every member their own', async () => {
    await chat(server, ann);
    await chat(server, bob);
    expect(await sumsOf(ann, 'own')).toEqual([expect.objectContaining({ key: 'small', calls: 1 })]);
    expect(await sumsOf(ann, `own?user_id=${bob.id}`)).toEqual([expect.objectContaining({ calls: 1 })]);
  });

  it('are for administrators alone, and own ones for members', async () => {
    expect((await server.call('GET /usage/days')).status).toBe(401);
    expect((await server.call('GET /usage/own')).status).toBe(401);
    expect((await server.as(ann)('GET /usage/days')).status).toBe(403);
  });

  it('refuse days in the wrong order', async () => {
    const { status, body } = await server.as(root)('GET /usage/days?first=2026-02-01&last=2026-01-01');
    expect([status, body.detail]).toEqual([400, 'first: must not be after the last day']);
  });

  it('end today, also when a millisecond passes while the day is computed', async () => {
    const now = Date.now.bind(Date);
    let passed = 0;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + passed++);
    const { status } = await server
      .as(root)('GET /usage/days')
      .finally(() => clock.mockRestore());
    expect(status).toBe(200);
  });

  it('keep the calls of a deleted account, without its name', async () => {
    const gone = await signUpAs(server, root, 'Gone', 'user');
    await chat(server, gone);
    await server.as(root)(`DELETE /users/${gone.id}`);
    expect(await sumsOf(root, 'days?by=user')).toEqual([
      expect.objectContaining({ key: gone.id, name: null, calls: 1 }),
    ]);
  });
});

describe('A limit', () => {
  it('refuses a call with its amount, what remains, and when it begins anew', async () => {
    await limitTo(server, root, { scope: 'user', requests: 2, per: 'day' });
    expect((await chat(server, ann)).status).toBe(200);
    expect((await chat(server, ann)).status).toBe(200);
    const { status, body, headers } = await chat(server, ann);
    const tomorrow = new Date(
      Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), new Date().getUTCDate() + 1),
    );
    expect(status).toBe(429);
    expect(body).toMatchObject({
      code: 'budget_exceeded',
      detail:
        'The limit of 2 requests per day for you does not allow this call: 0 remain. It begins anew at ' +
        `${tomorrow.toISOString().replace('.000', '')}.`,
    });
    const seconds = Number(headers.get('retry-after'));
    expect(Math.abs(seconds - (tomorrow.getTime() - Date.now()) / 1000)).toBeLessThan(5);
    expect((await chat(server, bob)).status).toBe(200);
    expect(await countCalls()).toBe(3);
    expect(await holds()).toEqual([]);
  });

  it.each([
    ['all', { scope: 'all' }, [429, 429]],
    ['all, for each account', { scope: 'all', each: true }, [429, 200]],
    ['one account', { scope: 'user', id: ann.id }, [429, 200]],
    ['another account', { scope: 'user', id: bob.id }, [200, 200]],
    ['a model', { scope: 'model', id: 'small' }, [429, 429]],
    ['models by a pattern', { scope: 'model', id: 'sm*' }, [429, 429]],
    ['each model', { scope: 'model' }, [429, 429]],
    ['another model', { scope: 'model', id: 'large' }, [200, 200]],
  ])('holds for %s', async (_, limit, [ofAnn, ofBob]) => {
    await limitTo(server, root, { ...limit, requests: 1, per: 'month' });
    expect((await chat(server, ann)).status).toBe(200);
    expect([(await chat(server, ann)).status, (await chat(server, bob)).status]).toEqual([ofAnn, ofBob]);
  });

  it('holds for the members of a group together', async () => {
    const { body: group } = await server.as(root)('POST /groups/create', { name: 'Makers', description: '' });
    await server.as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id, bob.id] });
    await limitTo(server, root, { scope: 'group', id: group.id, requests: 2, per: 'day' });
    expect((await chat(server, ann)).status).toBe(200);
    expect((await chat(server, bob)).status).toBe(200);
    const { body } = await chat(server, bob);
    expect(body.detail).toContain('The limit of 2 requests per day for your group');
    expect((await chat(server, root)).status).toBe(200);
  });

  it('on tokens counts what the provider counted', async () => {
    await limitTo(server, root, { scope: 'user', tokens: 50, per: 'day' });
    // Each call reserves 22 tokens, and takes 15.
    expect((await chat(server, ann)).status).toBe(200);
    expect((await chat(server, ann)).status).toBe(200);
    const { body } = await chat(server, ann);
    expect(body.detail).toContain(
      'The limit of 50 tokens per day for you does not allow this call: 20 remain, and this call needs up to 22.',
    );
    expect((await chat(server, ann, { max_tokens: 10 })).status).toBe(200);
  });

  it('on tokens reserves the largest number that the request names', async () => {
    await limitTo(server, root, { scope: 'user', tokens: 1_000, per: 'day' });
    for (const more of [{ max_completion_tokens: 1, max_tokens: 5_000 }, { max_tokens: 1e30 }]) {
      const { status, body } = await chat(server, ann, more);
      expect([status, body.code]).toEqual([429, 'budget_exceeded']);
    }
    expect((await chat(server, ann, { max_completion_tokens: 1, max_tokens: 900 })).status).toBe(200);
  });

  it('on cost counts by the table of prices', async () => {
    await configure(server, root, (config) => {
      config.usage = {
        prices: { small: { in: 100_000, out: 100_000 } },
        limits: [{ scope: 'all', cost: 3, per: 'month' }],
      };
    });
    expect((await chat(server, ann)).status).toBe(200);
    const { body } = await chat(server, ann);
    expect(body.detail).toContain(
      'The limit of a cost of 3 per month for all does not allow this call: 1.5 remain, and this call needs up to 2.2.',
    );
    expect((await chat(server, ann, { model: 'large' })).status).toBe(200);
  });

  it('gives back what a failed call reserved', async () => {
    await limitTo(server, root, { scope: 'user', requests: 1, per: 'day' });
    provider.script((_, wire) => wire.json(400, { error: { message: 'no' } }));
    expect((await chat(server, ann)).body.code).not.toBe('budget_exceeded');
    provider.script((_, wire) => wire.say('Hello'));
    expect((await chat(server, ann)).status).toBe(200);
    expect((await chat(server, ann)).status).toBe(429);
  });

  it('is shown to the people for whom it holds, with what remains', async () => {
    await limitTo(
      server,
      root,
      { scope: 'user', requests: 10, tokens: 1_000, per: 'day' },
      { scope: 'user', requests: 5, per: 'day' },
      { scope: 'user', id: bob.id, requests: 1, per: 'minute' },
    );
    await chat(server, ann);
    const { body } = await server.as(ann)('GET /usage/limits');
    expect(body.items).toEqual([
      {
        whom: 'for you',
        per: 'day',
        requests: { most: 5, used: 1, remaining: 4 },
        tokens: { most: 1_000, used: 15, remaining: 985 },
        cost: null,
        resets_at: expect.any(Number),
      },
    ]);
  });

  it('is shown to administrators with what each account, group and model has used of it, in one statement', async () => {
    const { body: group } = await server.as(root)('POST /groups/create', { name: 'Bakers', description: '' });
    await server.as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id, bob.id] });
    await limitTo(
      server,
      root,
      { scope: 'user', requests: 10, tokens: 1_000, per: 'month' },
      { scope: 'user', id: bob.id, requests: 2, per: 'month' },
      { scope: 'group', id: group.id, requests: 100, each: true, per: 'month' },
      { scope: 'model', tokens: 3_000, per: 'month' },
      { scope: 'model', id: 'sm*', requests: 50, per: 'month' },
      { scope: 'all', requests: 60, per: 'month' },
    );
    await chat(server, ann);
    await chat(server, bob);
    expect((await server.as(ann)('GET /usage/budgets')).status).toBe(403);
    let items: Record<string, unknown>[] = [];
    const statements = await recordStatements(async () => {
      ({ items } = (await server.as(root)('GET /usage/budgets')).body);
    });
    expect(statements).toHaveLength(1);
    const of = (used: number, most: number) => ({ most, used, remaining: most - used });
    const nothing = { subject: null, subject_name: null, user_id: null, user_name: null };
    const limit = { requests: null, tokens: null, cost: null, per: 'month', resets_at: expect.any(Number) };
    const user = {
      ...nothing,
      ...limit,
      place: 0,
      scope: 'user',
      requests: of(1, 10),
      tokens: of(15, 1_000),
    };
    const inGroup = { subject: group.id, subject_name: 'Bakers', requests: of(1, 100) };
    const each = { ...nothing, ...limit, place: 2, scope: 'group', ...inGroup };
    const ofAnn = { user_id: ann.id, user_name: 'Ann' };
    const ofBob = { user_id: bob.id, user_name: 'Bob' };
    const sorted = (some: Record<string, unknown>[]) =>
      some.toSorted((a, b) => `${a.place} ${a.user_name}`.localeCompare(`${b.place} ${b.user_name}`));
    expect(sorted(items)).toEqual([
      { ...user, ...ofAnn },
      { ...user, ...ofBob },
      { ...user, ...ofBob, place: 1, requests: of(1, 2), tokens: null },
      { ...each, ...ofAnn },
      { ...each, ...ofBob },
      { ...nothing, ...limit, place: 3, scope: 'model', subject: 'small', tokens: of(30, 3_000) },
      { ...nothing, ...limit, place: 4, scope: 'model', subject: 'sm*', requests: of(2, 50) },
      { ...nothing, ...limit, place: 5, scope: 'all', requests: of(2, 60) },
    ]);
    expect(items[0]).toMatchObject({ place: 1 });
    const { body } = await server.as(root)('GET /usage/budgets?skip=1&limit=2');
    expect(body.items).toEqual(items.slice(1, 3));
  });

  it.each([
    [{ scope: 'user', per: 'day' }, /needs requests, tokens or cost/],
    [{ scope: 'user', requests: -1, per: 'day' }, /requests/],
    [{ scope: 'people', requests: 1, per: 'day' }, /scope/],
  ])('is refused when it is none: %j', async (limit, message) => {
    const { status, body } = await configure(server, root, (config) => {
      config.usage.limits = [limit];
    });
    expect([status, body.detail]).toEqual([400, expect.stringMatching(message)]);
  });
});
