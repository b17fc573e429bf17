import { afterAll, describe, expect, it } from 'vitest';
import { startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { chat, limitTo, openProvider } from './usage.ts';

describe.skipIf(withoutRedis)('Budgets with several processes', async () => {
  const { here, there, database, env, close } = await startPair();
  const [root, ann, bob] = await signUpAll(here, 'Root', 'Ann', 'Bob');
  const provider = await openProvider(here, root, 'small');
  const isKnownThere = async () => (await chat(there, root)).body.code !== 'model_not_found';

  afterAll(async () => {
    await close();
    await provider.close();
  });

  const limit = async (...limits: object[]) => {
    provider.script((_, wire) => wire.say('Hello'));
    await until('the model at the other process', isKnownThere);
    await limitTo(here, root, ...limits);
    const all = async () => (await there.as(root)('GET /configs/export')).body.usage.limits.length;
    await until('the limits at the other process', async () => (await all()) === limits.length);
    await database.query('truncate usage_call, usage_counter, usage_hold');
  };

  it('let exactly as many calls pass as a limit allows', async () => {
    await limit({ scope: 'all', requests: 20, per: 'month' }, { scope: 'user', requests: 12, per: 'month' });
    const calls = Array.from({ length: 60 }, (_, index) =>
      chat(index % 2 ? here : there, index % 3 ? ann : bob),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ status }) => status === 200).length).toBe(20);
    expect(answers.filter(({ body }) => body.code === 'budget_exceeded').length).toBe(40);
    const [all] = await database.query<{ requests: string }>(
      "select requests from usage_counter where key like 'all%'",
    );
    expect(Number(all?.requests)).toBe(20);
    expect(await database.query('select * from usage_hold')).toEqual([]);
  });

  it('never reserve more tokens than a limit has', async () => {
    await limit({ scope: 'all', tokens: 230, per: 'month' });
    const open: (() => void)[] = [];
    provider.script((_, wire) => {
      wire.delta({ content: 'Hel' });
      open.push(() => wire.finish());
    });
    const calls = Array.from({ length: 30 }, (_, index) => chat(index % 2 ? here : there, ann));
    let refused = 0;
    for (const call of calls) void call.then(({ status }) => (refused += Number(status === 429)));
    // Each reserves 22, and takes 15.
    await until('the calls that pass, and the others', () => open.length === 10 && refused === 20);
    for (const finish of open) finish();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(10);
    const [all] = await database.query<{ tokens: string }>('select tokens from usage_counter');
    expect(Number(all?.tokens)).toBe(150);
  });

  it('give back what a process had reserved that crashed', async () => {
    await limit({ scope: 'user', requests: 1, per: 'month' });
    provider.script((_, wire) => wire.delta({ content: 'Hel' }));
    const over = new AbortController();
    const call = fetch(`${here.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
      signal: over.signal,
    });
    await call;
    expect((await chat(there, ann)).status).toBe(429);
    const [hold] = await database.query<{ expires_at: number }>('select expires_at from usage_hold');
    expect(hold?.expires_at).toBeLessThanOrEqual(Date.now() / 1000 + 300);
    // As if its process had not renewed it for that long.
    await database.query('update usage_hold set expires_at = 0');
    const third = await startServer({ database, env });
    try {
      await until(
        'the reservation',
        async () => (await database.query('select * from usage_hold')).length === 0,
      );
      provider.script((_, wire) => wire.say('Hello'));
      expect((await chat(there, ann)).status).toBe(200);
    } finally {
      over.abort();
      await third.close();
    }
  });

  it('forget calls and counters that are older than configured', async () => {
    await limit();
    await chat(here, ann);
    await database.query(
      `insert into usage_call select gen_random_uuid(), extract(epoch from now())::int - 11 * 86400, user_id, model, provider_model,
         'old', kind, 1, 0, 1, false, null, null, 1, 1, 'ok' from usage_call limit 1`,
    );
    // A window that ended an hour ago.
    await database.query(`insert into usage_counter
      select 'user x minute', ends_at - 60, ends_at, 1, 1, 0 from (select extract(epoch from now())::int - 3600 as ends_at) x`);
    const third = await startServer({ database, env: { ...env, USAGE_RETENTION_DAYS: '10' } });
    try {
      const left = async () =>
        (await database.query('select connection from usage_call')).length +
        (await database.query('select key from usage_counter')).length;
      await until('the removal', async () => (await left()) === 1);
      const [call] = await database.query('select connection from usage_call');
      expect(call?.connection).not.toBe('old');
    } finally {
      await third.close();
    }
  });
});
