import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type ServerProcess, spawnMain } from '../support/process.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { call, signUp, type TestServer } from '../support/server.ts';
import { gate } from './desk.ts';

/** Real processes on one database and one Redis. */
const undo: (() => unknown)[] = [];
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

type Remote = Pick<TestServer, 'url' | 'as' | 'call'>;
const remote = (url: string): Remote => ({
  url,
  call: (request, options) => call(url, request, options),
  as:
    ({ token }) =>
    (request, body) =>
      call(url, request, { token, body }),
});

async function launch(env: Record<string, string>): Promise<{ child: ServerProcess; server: Remote }> {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const child = spawnMain({ DATA_DIR, EMBEDDED_MODEL: 'off', ...env });
  undo.push(async () => {
    await child.stop('SIGKILL');
    await rm(DATA_DIR, { recursive: true, force: true });
  });
  return { child, server: remote(await child.ready()) };
}

describe.skipIf(withoutRedis)('two processes', async () => {
  if (withoutRedis) return;
  const redis = await startRedis();
  undo.push(() => redis.stop());
  const database = await createDatabase();
  undo.push(() => database.drop());
  const provider = await startProvider('small', 'other');
  undo.push(() => provider.close());
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRET_KEY: 'a secret that all processes have got',
  };
  let here = await launch(env);
  const root = await signUp(here.server as TestServer, 'Root');
  await connectProvider(here.server as TestServer, root, provider);
  const { body: channel } = await here.server.as(root)('POST /channels/create', { name: 'general' });
  const at = `/channels/${channel.id}/messages`;
  const get = async (server: Remote, id: string) => (await server.as(root)(`GET ${at}/${id}`)).body;
  const thread = async (server: Remote, id: string) => (await server.as(root)(`GET ${at}/${id}/thread`)).body;
  const post = async (server: Remote, content: string) => {
    const { body } = await server.as(root)(`POST ${at}/post`, { content });
    const [reply] = await until('the reply', async () => {
      const replies = await thread(server, body.id);
      return replies.length > 0 && replies;
    });
    return reply.id as string;
  };
  const done = (server: Remote, id: string) =>
    until('the end of the reply', async () => {
      const reply = await get(server, id);
      return reply.meta.done && reply;
    });

  /** A reply is written by the process that is alone when it is posted; then another one is started. */
  const there = () => launch(env);

  it('the second ends the reply that a killed process wrote, and calls the model of a chain that it did not call', async () => {
    provider.script(async (request, wire) => {
      const { model, messages } = request.body;
      if (model === 'other') return wire.say('Here.');
      if (messages.at(-1).content.endsWith('chain')) return wire.say('Ask @other');
      for (let n = 0; n < 6_000 && !request.isCut; n += 1) {
        wire.delta({ content: `${n} ` });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    // Holds the transaction that begins the next reply.
    await database.query(`create function wait() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(13); return new; end'`);
    await database.query(
      `create trigger wait before insert on model_reply for each row when (new.depth = 2) execute function wait()`,
    );
    const { written, first, other } = await withClient(database.url, async (client) => {
      await client.query('select pg_advisory_lock(13)');
      const ids = {
        written: await post(here.server, '@small'),
        first: await post(here.server, '@small chain'),
      };
      await until('a save', async () => (await get(here.server, ids.written)).content);
      await until('the next reply', async () => {
        const waiting = "select from pg_locks where locktype = 'advisory' and objid = 13 and not granted";
        return (await client.query(waiting)).rows.length > 0;
      });
      const started = await there();
      await here.child.stop('SIGKILL');
      return { ...ids, other: started };
    });
    const began = Date.now();
    await database.query('drop trigger wait on model_reply');
    here = other;
    const reply = await done(here.server, written);
    expect(Date.now() - began).toBeLessThan(30_000);
    expect(reply.meta.error).toMatchObject({ code: 'reply_interrupted' });
    expect(reply.content).toMatch(/^0 1 2 /);
    const { parent_id: chain, meta } = await done(here.server, first);
    expect(meta.error).toBeUndefined();
    const next = await until('the next reply', async () =>
      (await thread(here.server, chain)).find(
        (one: { meta: { model_id?: string } }) => one.meta.model_id === 'other',
      ),
    );
    expect((await done(here.server, next.id)).content).toBe('Here.');
  });

  it('a restarted one begins a reply again that had shown nothing, ends one that had, and one whose job is lost at its time', async () => {
    const hold = gate();
    let calls = 0;
    provider.script(async (request, wire) => {
      calls += 1;
      if (request.body.messages.at(-1).content.endsWith('talking')) {
        wire.delta({ content: 'Some words' });
        return;
      }
      await hold.opened;
      wire.say('At last.');
    });
    const silent = await post(here.server, '@small silent');
    const talking = await post(here.server, '@small talking');
    const lost = await post(here.server, '@small lost');
    await until('all calls', () => calls === 3);
    await until('the words', async () => (await get(here.server, talking)).content);
    await here.child.stop('SIGTERM');
    await database.query('delete from graphile_worker._private_jobs where payload::text like $1', [
      `%${lost}%`,
    ]);
    await database.query('update model_reply set ends_by = 0 where message_id = $1', [lost]);
    hold.open();
    here = await there();
    const first = await done(here.server, silent);
    expect(first).toMatchObject({ content: 'At last.', meta: { done: true } });
    expect(first.meta.error).toBeUndefined();
    expect(await done(here.server, talking)).toMatchObject({
      content: 'Some words',
      meta: { error: { code: 'reply_interrupted' } },
    });
    expect((await done(here.server, lost)).meta.error).toMatchObject({ code: 'reply_timeout' });
    expect(calls).toBe(4);
  });
});
