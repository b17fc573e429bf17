import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { grant } from '../support/channels.ts';
import { startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signUp, type TestServer } from '../support/server.ts';
import { openSocket, openWorkshop } from './workshop.ts';

const SOURCE = `import asyncio
class Tools:
    async def greet(self, count: int = 2, __event_emitter__=None, __event_call__=None):
        await __event_emitter__({"type": "status", "data": {"description": "asking", "done": False}})
        names = [await __event_call__({"type": "input", "data": {"n": n}}) for n in range(count)]
        return f"Hello {' and '.join(names)}"
    async def wait(self, __event_emitter__=None):
        await __event_emitter__({"type": "status"})
        await asyncio.sleep(60)
    def fail(self): raise ValueError("no such city")
    def quick(self): return {"a": 1}
`;

interface Watched {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
  items: any[];
  error: string | undefined;
  isComplete: boolean;
  stop(): void;
}

const open: (() => unknown)[] = [];

/** Runs a function over a new socket. */
function watch(
  url: string,
  person: Person,
  input: { id: string; function: string; arguments?: Record<string, unknown>; lastEventId?: string },
): Watched & { sockets: ReturnType<typeof openSocket>['sockets'] } {
  const { client, sockets } = openSocket(url, person.token);
  open.push(() => sockets.close());
  const watched: Watched = { items: [], error: undefined, isComplete: false, stop: () => {} };
  const subscription = client.tools.run.subscribe(input, {
    onData: ({ data }) => watched.items.push(data),
    onError: ({ data, message }) => {
      watched.error = (data as { error_code?: string } | null)?.error_code ?? message;
    },
    onComplete: () => {
      watched.isComplete = true;
    },
  });
  watched.stop = () => subscription.unsubscribe();
  return Object.assign(watched, { sockets });
}

const question = (run: Watched, ask: number) =>
  until(`question ${ask}`, () => run.items.find((item) => item.type === 'ask' && item.ask === ask));
const answerTo = (server: TestServer, person: Person | null, run: Watched, ask: number, answer: unknown) =>
  server.call(`POST /tools/runs/${run.items[0]?.run_id}/answer`, {
    token: person?.token,
    body: { ask, answer },
  });

const shop = await openWorkshop({ askTimeoutMs: 8_000, callTimeoutMs: 60_000 });
await shop.create('live', SOURCE);
afterAll(async () => {
  for (const close of open) close();
  await shop.close();
});
const run = (name: string, args: Record<string, unknown> = {}, person = shop.reader) =>
  watch(shop.server.url, person, { id: 'live', function: name, arguments: args });
const outcomes = async (): Promise<string[]> =>
  (await shop.as(shop.author, 'GET', 'live/runs')).body.map(({ outcome }: { outcome: string }) => outcome);
/** Waits until one more run than `before` is stored as cancelled. */
const untilCancelled = (before: string[]) =>
  until('the run to be noted', async () => {
    const now = await outcomes();
    return now.length === before.length + 1 && now[0] === 'cancelled';
  });

describe('tools.run', () => {
  it('sends events and questions while the function runs, takes answers, and ends with the result', async () => {
    const live = run('greet');
    await question(live, 1);
    expect(live.items).toEqual([
      { type: 'started', run_id: expect.any(String) },
      { type: 'event', event: { type: 'status', data: { description: 'asking', done: false } } },
      { type: 'ask', ask: 1, event: { type: 'input', data: { n: 0 } } },
    ]);
    expect((await answerTo(shop.server, shop.reader, live, 1, 'Ann')).body).toEqual({ result: true });
    await question(live, 2);
    await answerTo(shop.server, shop.reader, live, 2, 'Bob');
    await until('the end', () => live.isComplete);
    expect(live.items.at(-1)).toEqual({
      type: 'result',
      result: 'Hello Ann and Bob',
      duration_ms: expect.any(Number),
    });
  });

  it('takes the first answer, only from its caller', async () => {
    const live = run('greet', { count: 1 });
    await question(live, 1);
    expect((await answerTo(shop.server, null, live, 1, 'x')).status).toBe(401);
    for (const person of [shop.author, shop.admin, shop.stranger]) {
      expect((await answerTo(shop.server, person, live, 1, 'Mallory')).body.code).toBe('not_found');
    }
    expect((await answerTo(shop.server, shop.reader, live, 7, 'x')).status).toBe(404);
    const both = await Promise.all(
      ['Ann', 'Bob'].map((name) => answerTo(shop.server, shop.reader, live, 1, name)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    await until('the end', () => live.isComplete);
    expect(live.items.at(-1).result).toMatch(/^Hello (Ann|Bob)$/);
    expect((await answerTo(shop.server, shop.reader, live, 1, 'late')).status).toBe(404);
  });

  it.each([
    ['without a number', { answer: 1 }],
    ['with a lone surrogate', { ask: 1, answer: { name: '\ud800' } }],
    ['too large', { ask: 1, answer: 'x'.repeat(300_000) }],
  ])('refuses an answer: %s', async (_what, body) => {
    const path = `POST /tools/runs/${crypto.randomUUID()}/answer`;
    expect((await shop.server.call(path, { token: shop.reader.token, body })).status).toBe(400);
  });

  it('gives up a question without an answer', async () => {
    const live = run('greet');
    await until('the failure', () => live.error);
    expect(live.error).toBe('tool_raised');
  });

  it.each([
    ['fail', {}, 'tool_raised'],
    ['nothing', {}, 'not_found'],
    ['greet', { count: 'many' }, 'arguments_invalid'],
  ])('%s(%j) ends with %s', async (name, args, code) => {
    const live = run(name, args);
    await until('the failure', () => live.error);
    expect(live.error).toBe(code);
    expect(live.items.map(({ type }) => type)).toEqual(['started']);
  });

  it('requires access to the tool', async () => {
    const live = run('quick', {}, shop.stranger);
    await until('the refusal', () => live.error);
    expect([live.error, live.items]).toEqual(['tool_forbidden', []]);
  });

  it('ends when its caller disconnects', async () => {
    const before = await outcomes();
    const live = run('wait');
    await until('the event', () => live.items.length === 2);
    live.stop();
    await untilCancelled(before);
  });

  it('ends when its caller loses access to the tool, or the tool is deleted', async () => {
    await shop.create('lent', SOURCE);
    const wait = async () => {
      const live = watch(shop.server.url, shop.reader, { id: 'LENT', function: 'wait' });
      await until('the event', () => live.items.length === 2);
      return live;
    };
    const share = (...access_grants: unknown[]) =>
      shop.as(shop.author, 'POST', 'lent/access/update', { access_grants });
    const kept = await wait();
    await share(grant(shop.reader.id, 'write'));
    const lost = await wait();
    await share();
    for (const live of [kept, lost]) await until('the refusal', () => live.error);
    expect([kept.error, lost.error]).toEqual(['tool_forbidden', 'tool_forbidden']);
    await share(grant('*', 'read'), grant(shop.reader.id, 'read'));
    const [form, left] = [{ name: 'lent', content: SOURCE, meta: {} }, await wait()];
    await shop.as(shop.author, 'POST', 'lent/update', { ...form, access_grants: [] });
    await until('the refusal', () => left.error);
    await share(grant(shop.reader.id, 'read'));
    const gone = await wait();
    await shop.as(shop.author, 'DELETE', 'lent/delete');
    await until('the refusal', () => gone.error);
    expect([left.error, gone.error]).toEqual(['tool_forbidden', 'not_found']);
  });

  it('ends when its caller signs out', async () => {
    const before = await outcomes();
    const live = run('wait', {}, shop.writer);
    await until('the event', () => live.items.length === 2);
    await shop.server.call('POST /auths/signout', { token: shop.writer.token });
    await until('the end', () => live.error ?? live.isComplete);
    await untilCancelled(before);
  });

  it('does not run again when the client reconnects', async () => {
    const before = await outcomes();
    const live = run('wait');
    await until('the event', () => live.items.length === 2);
    live.sockets.connection?.ws.close();
    await until('the refusal', () => live.error);
    expect(live.error).toBe('bad_request');
    await untilCancelled(before);
  });
});

describe('a function that asks its caller', () => {
  it('fails with a clear error over REST, where no client can be asked', async () => {
    const { status, body } = await shop.as(shop.reader, 'POST', 'live/call', { function: 'greet' });
    expect([status, body.code]).toEqual([422, 'tool_raised']);
    expect(body.detail).toContain('tools.run');
  });
});

describe.skipIf(withoutRedis)('two processes', () => {
  it('pass an answer to the process of the run, and notice changes of the source by the other process', async () => {
    const { here, there, close } = await startPair({ python: shop.python });
    onTestFinished(close);
    const root = await signUp(here, 'Root');
    const body = { id: 'live', name: 'live', content: SOURCE, meta: {} };
    await here.call('POST /tools/create', { token: root.token, body });

    const live = watch(here.url, root, { id: 'live', function: 'greet', arguments: { count: 1 } });
    await question(live, 1);
    expect((await answerTo(there, root, live, 1, 'Ann')).body).toEqual({ result: true });
    await until('the end', () => live.isComplete);
    expect((await answerTo(there, root, live, 1, 'late')).status).toBe(404);

    const call = async () =>
      (await there.call('POST /tools/id/live/call', { token: root.token, body: { function: 'quick' } })).body
        .result;
    expect(await call()).toEqual({ a: 1 });
    const content = SOURCE.replace('{"a": 1}', '{"a": 2}');
    await here.call('POST /tools/id/live/update', { token: root.token, body: { ...body, content } });
    expect(await call()).toEqual({ a: 2 });
  });
});
