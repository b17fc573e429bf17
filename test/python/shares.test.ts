import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Limits, Python } from '../../src/python/pool.ts';
import { until } from '../support/poll.ts';
import { ANN, callTool, FOLDER, startTestPython, toolOf } from '../support/python.ts';

/** Tests with the same limits share a Python. */
const started = new Map<string, Promise<Python>>();
let python: Python;
const start = async (limits: Partial<Limits>) => {
  const key = JSON.stringify(limits);
  const one = started.get(key) ?? startTestPython(limits);
  started.set(key, one);
  python = await one;
};
// The next test begins with processes of its own.
afterEach(() => python.evict('tool'));
afterAll(() => Promise.all([...started.values()].map(async (one) => (await one).close())));

const BEN = { ...ANN, id: 'u2', name: 'Ben' };
const EVE = { ...ANN, id: 'u3', name: 'Eve' };

/**
 * `hold` reports its folder and runs until its file `go` exists. `block` does the same and blocks its process
 * meanwhile; it returns the number of calls that its process has begun.
 */
const CONTENT = toolOf(
  `begun = 0
async def block(self, __event_emitter__=None):
    self.begun += 1
    await __event_emitter__(${FOLDER})
    while not os.path.exists("go"): time.sleep(0.005)
    await asyncio.sleep(0.1)
    return self.begun
def spin(self):
    while True: pass
def crash(self): os._exit(3)
def who(self):
    self.begun += 1
    return os.getpid()
def hold(self, name: str = "go", __event_emitter__=None):
    asyncio.run(__event_emitter__(${FOLDER}))
    while not os.path.exists(name): time.sleep(0.005)
    return os.getpid()`,
  'import asyncio, os, time',
);

const use = (name: string, user: typeof ANN, args = {}, more: Parameters<typeof callTool>[3] = {}) =>
  callTool(python, CONTENT, args, { function: name, user, ...more });

/** Calls that run until they are let go. */
class Holding {
  readonly folders: string[] = [];
  readonly calls: Promise<unknown>[] = [];

  add(user: typeof ANN, id = 'tool'): Promise<unknown> {
    const call = use(
      'hold',
      user,
      {},
      {
        tool: { id, content: CONTENT },
        onEvent: (folder) => this.folders.push(String(folder)),
      },
    ).then(
      ({ result }) => result,
      (error) => error,
    );
    this.calls.push(call);
    return call;
  }

  /** The number of running calls. */
  running = () => this.folders.length;

  /** Folders of calls that have ended may be gone. */
  letGo = () => Promise.allSettled(this.folders.map((folder) => writeFile(join(folder, 'go'), '')));
}

test('ends only the call that ran out of time: calls beside it finish, and others get a new process at once', async () => {
  await start({});
  const holding = new Holding();
  const held = holding.add(ANN);
  await until('it to run', holding.running);
  await expect(use('spin', EVE, {}, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'tool_timeout' });
  const { result: fresh } = await use('who', BEN);
  await holding.letGo();
  expect(await held).toEqual(expect.any(Number));
  expect(fresh).not.toBe(await held);
});

test('moves a call that its process does not begin to another process, where it runs once', async () => {
  // Calls must begin within this time.
  await start({ beginMs: 4_000 });
  const block = async (more: Parameters<typeof callTool>[3] = {}) => {
    const blocks = Promise.withResolvers<unknown>();
    const answer = use('block', EVE, {}, { ...more, onEvent: blocks.resolve });
    answer.catch(blocks.reject);
    const folder = String(await blocks.promise);
    return { answer, letGo: () => writeFile(join(folder, 'go'), '') };
  };
  await use('who', ANN);
  const blocking = await block();
  const beside = await use('who', BEN);
  await blocking.letGo();
  // The blocked process had begun this call and the first one, but not the one that moved.
  expect((await blocking.answer).result).toBe(2);
  // From then on Ben has a process of his own, so Eve cannot block him in the shared one.
  const leaving = new AbortController();
  const again = await block({ signal: leaving.signal });
  expect((await use('who', BEN)).result).toBe(beside.result);
  leaving.abort(new Error('gone'));
  await expect(again.answer).rejects.toThrow('gone');
});

test('tells a crash to its only caller; with several callers the culprit is unknown, and each gets a process', async () => {
  await start({});
  await expect(use('crash', EVE)).rejects.toMatchObject({ code: 'tool_raised', status: 422 });
  const holding = new Holding();
  const held = holding.add(ANN);
  await until('it to run', holding.running);
  const unknown = { code: 'tool_interrupted', status: 503 };
  await expect(use('crash', EVE)).rejects.toMatchObject(unknown);
  expect(await held).toMatchObject({ ...unknown, message: expect.stringContaining('was not tried again') });
  const again = holding.add(ANN);
  await until('it to run again', () => holding.running() === 2);
  await expect(use('crash', EVE)).rejects.toMatchObject({ code: 'tool_raised' });
  await writeFile(join(holding.folders[1] ?? '', 'go'), '');
  expect(await again).toEqual(expect.any(Number));
});

test('limits the running and waiting calls of a person, refuses the next, and serves other people', async () => {
  await start({ callsPerPerson: 3, waitingPerPerson: 4 });
  const holding = new Holding();
  for (let n = 0; n < 7; n += 1) holding.add(EVE, `t${n % 2}`);
  await until('three to run', () => holding.running() === 3);
  await expect(use('who', EVE)).rejects.toMatchObject({
    code: 'rate_limited',
    status: 429,
    retryAfterSeconds: 5,
  });
  await use('who', BEN);
  expect(holding.running()).toBe(3);
  await until('all to be done', async () => {
    await holding.letGo();
    return holding.running() === 7;
  });
  for (const result of await Promise.all(holding.calls)) expect(result).toEqual(expect.any(Number));
  await use('who', EVE);
});

test('refuses a call that waits too long, and a cancelled call makes room', async () => {
  await start({ callsPerPerson: 1, loadTimeoutMs: 5_000 });
  const holding = new Holding();
  const held = holding.add(EVE);
  await until('it to run', holding.running);
  const cancelled = new AbortController();
  const waiting = use('who', EVE, {}, { signal: cancelled.signal });
  cancelled.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(use('who', EVE)).rejects.toMatchObject({ code: 'rate_limited' });
  await holding.letGo();
  await held;
  await use('who', EVE);
});

test('counts a cancelled call until it ends', async () => {
  await start({ callsPerPerson: 1, loadTimeoutMs: 5_000 });
  const holding = new Holding();
  // Another caller works in this process, so the process stays.
  const held = holding.add(BEN);
  await until('it to run', holding.running);
  const cancelled = new AbortController();
  const left = use(
    'hold',
    EVE,
    { name: 'later' },
    { signal: cancelled.signal, onEvent: () => cancelled.abort() },
  );
  await expect(left).rejects.toThrow();
  await expect(use('who', EVE)).rejects.toMatchObject({ code: 'rate_limited' });
  await writeFile(join(holding.folders[0] ?? '', 'later'), '');
  await until('the turn to be free', () => use('who', EVE).catch(() => null));
  await holding.letGo();
  await held;
});

test('counts loads that hang for the person who stores the tool', async () => {
  await start({ callsPerPerson: 1, loadTimeoutMs: 5_000 });
  const source = { id: 'hanging', content: 'import time\ntime.sleep(60)' };
  const hanging = [1, 2].map(() => python.inspect(source, { person: EVE.id }));
  const outcomes = Promise.allSettled(hanging);
  await use('who', BEN);
  expect((await outcomes).map((one) => one.status === 'rejected' && one.reason.code).sort()).toEqual([
    'rate_limited',
    'tool_invalid',
  ]);
});

test('ends a load when the only caller disconnects', async () => {
  await start({ processes: 1, loadTimeoutMs: 60_000 });
  const source = { id: 'hanging', content: 'import time\ntime.sleep(60)' };
  for (const ask of [
    (signal: AbortSignal) => python.inspect(source, { person: EVE.id, signal }),
    (signal: AbortSignal) => use('f', EVE, {}, { tool: source, signal }),
  ]) {
    const leaving = new AbortController();
    const asked = ask(leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    // The only place is free again.
    await use('who', BEN);
  }
});

test('gives the next place to the person with the fewest running calls', async () => {
  await start({ processes: 2 });
  const holding = new Holding();
  for (let n = 0; n < 5; n += 1) holding.add(EVE, `t${n}`);
  await until('both places to be taken', () => holding.running() === 2);
  const served: string[] = [];
  const late = use('who', BEN, {}, { tool: { id: 'late', content: CONTENT } }).then(() => served.push('Ben'));
  for (const call of holding.calls.slice(2)) void call.then(() => served.push('Eve'));
  // One of the two ends; three of Eve's calls were queued before Ben's.
  await writeFile(join(holding.folders[0] ?? '', 'go'), '');
  await late;
  expect(served).toEqual(['Ben']);
  await until('all to be done', async () => {
    await holding.letGo();
    return holding.running() === 5;
  });
  await Promise.all(holding.calls);
});

test('ends only as many unused processes as there are tools waiting', async () => {
  await start({ processes: 4 });
  const who = async (id: string) => (await use('who', BEN, {}, { tool: { id, content: CONTENT } })).result;
  for (const id of ['a', 'b', 'c']) await who(id);
  const last = await who('d');
  await Promise.all(['x', 'y', 'z'].map(who));
  expect(await who('d')).toBe(last);
});

test('bounds the memory for calls that a tool does not read', async () => {
  await start({});
  const content = toolOf('async def f(self, s: float, x: str = ""): time.sleep(s)', 'import time');
  const x = 'x'.repeat(3_500_000);
  await callTool(python, content, { s: 0 });
  // All calls are queued before the first is sent.
  const calls = Array.from({ length: 24 }, (_, i) => callTool(python, content, { s: i === 0 ? 1 : 0, x }));
  const outcomes = await Promise.allSettled(calls);
  const turnedAway = outcomes.filter(({ status }) => status === 'rejected');
  for (const one of turnedAway) expect(one).toMatchObject({ reason: { code: 'rate_limited', status: 429 } });
  // Nineteen fit into the share of one person.
  expect(turnedAway).toHaveLength(5);
  await callTool(python, content, { s: 0 });
});
