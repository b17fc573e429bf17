import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Limits, Python } from '../../src/python/pool.ts';
import { until } from '../support/poll.ts';
import { listProcesses } from '../support/process.ts';
import { callTool, FOLDER, startTestPython, toolOf } from '../support/python.ts';

let python: Python;

/** Starts a Python for one test. */
async function start(limits: Partial<Limits>): Promise<void> {
  const started = await startTestPython(limits);
  onTestFinished(() => started.close());
  python = started;
}

const WHO = toolOf('def f(self): return [os.getpid(), os.getppid()]', 'import os');

/** The process ids of the tool and of the fork server. */
async function who(id: string): Promise<[number, number]> {
  const { result } = await callTool(python, WHO, {}, { tool: { id, content: WHO } });
  return result as [number, number];
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

/** Emits an event when it begins, and goes on. */
const SLEEPING = toolOf(
  'def f(self, __event_emitter__):\n    asyncio.run(__event_emitter__({}))\n    time.sleep(600)',
  'import asyncio, time',
);

/** Begins a call whose caller may disconnect. */
function begin(content: string) {
  const leaving = new AbortController();
  const begun = Promise.withResolvers<unknown>();
  const answer = callTool(python, content, {}, { signal: leaving.signal, onEvent: begun.resolve });
  answer.catch(begun.reject);
  return { answer, begun: begun.promise, leave: () => leaving.abort(new Error('gone')) };
}

test('keeps a limited number of processes, and ends the least recently used one for another tool', async () => {
  await start({ processes: 4 });
  const pids: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    pids.push((await who(`t${i}`))[0]);
    // The first tool is used again and again, so it stays.
    expect((await who('t0'))[0]).toBe(pids[0]);
    expect(pids.filter(isAlive).length).toBeLessThanOrEqual(4);
  }
});

test('a host that ends while a tool loads is not the fault of its source', async () => {
  await start({});
  const [, host] = await who('t');
  const source = { id: 'slow', content: 'import subprocess\nsubprocess.run(["sleep", "60.25"])' };
  const loaded = python.inspect(source);
  loaded.catch(() => {});
  await until('the source to run', async () =>
    (await listProcesses()).some(({ command }) => command.includes('sleep 60.25')),
  );
  process.kill(host, 'SIGKILL');
  await expect(loaded).rejects.toMatchObject({
    code: 'python_unavailable',
    message: expect.stringContaining('could not be loaded: the Python host had to start anew'),
  });
});

test('keeps one of many places free for the next tool', async () => {
  await start({ processes: 16 });
  const pids: number[] = [];
  for (let i = 0; i < 16; i += 1) pids.push((await who(`t${i}`))[0]);
  await until('the first process to be gone', () => !isAlive(pids[0] ?? 0));
  expect(pids.filter(isAlive).length).toBe(15);
});

test('lets more tools than places wait for one, and all answer', async () => {
  await start({ processes: 2 });
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => who(`t${i}`)));
  expect(new Set(answers.map(([pid]) => pid)).size).toBe(8);
});

test('tells the caller to try again when every place stays busy', async () => {
  // Loading must fit into this time too.
  await start({ processes: 1, loadTimeoutMs: 5_000 });
  const busy = begin(SLEEPING);
  await busy.begun;
  await expect(who('other')).rejects.toMatchObject({ code: 'python_unavailable', retryAfterSeconds: 5 });
  busy.leave();
  await expect(busy.answer).rejects.toThrow('gone');
  await who('other');
});

test('ends an idle process', async () => {
  await start({ idleTimeoutMs: 1 });
  const [pid] = await who('t');
  await until('the process to be gone', () => !isAlive(pid));
});

describe('with the limits of a server', () => {
  beforeAll(async () => {
    python = await startTestPython({});
  });
  afterAll(() => python.close());

  test('ends an evicted tool after its call', async () => {
    const content = toolOf(
      `def f(self, __event_emitter__):\n    asyncio.run(__event_emitter__([os.getpid(), ${FOLDER}]))\n` +
        '    while not os.path.exists("go"): time.sleep(0.005)\n    return os.getpid()',
      'import asyncio, os, time',
    );
    const started = Promise.withResolvers<unknown>();
    const slow = callTool(python, content, {}, { onEvent: started.resolve });
    const [pid, folder] = (await started.promise) as [number, string];
    python.evict('tool');
    await writeFile(join(folder, 'go'), '');
    expect((await slow).result).toBe(pid);
    await until('the process to be gone', () => !isAlive(pid));
  });

  test('answers the first call in the process that inspected the source', async () => {
    const content = toolOf(
      'LOADED = os.getpid()\ndef f(self, x: Literal["a"] = "a"): return self.LOADED',
      'import os\nfrom typing import Literal',
    );
    const inspected = await python.inspect({ id: 'tool', content });
    const first = (await callTool(python, inspected.content)).result;
    expect((await callTool(python, content)).result).toBe(first);
    // A second inspection runs in another process and leaves the first in place.
    await python.inspect({ id: 'tool', content });
    expect((await callTool(python, content)).result).toBe(first);
  });

  test('starts a fork server again that died; running calls fail, later calls wait', async () => {
    const [, host] = await who('t');
    const busy = begin(SLEEPING);
    await busy.begun;
    process.kill(host, 'SIGKILL');
    await expect(busy.answer).rejects.toMatchObject({ code: 'tool_interrupted' });
    await until('another fork server', () =>
      who('t').then(
        ([, other]) => other !== host,
        () => false,
      ),
    );
    expect(python.state().state).toBe('ready');
  });

  test('ends every process and removes every folder when it closes', async () => {
    const scratch = toolOf('def f(self): return os.getcwd()', 'import os');
    const folder = String((await callTool(python, scratch)).result);
    const [pid, host] = await who('t');
    await python.close();
    expect([pid, host].filter(isAlive)).toEqual([]);
    expect(existsSync(folder) || existsSync(join(folder, '..'))).toBe(false);
    await expect(who('t')).rejects.toMatchObject({ code: 'python_unavailable' });
  });
});

test('leaves no Python process behind after kill -9 of the server', async () => {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'orphan.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: server.stdout }), 'line');
  const { host, tool, child, folder } = JSON.parse(String(line));
  expect([host, tool, child].filter(isAlive)).toHaveLength(3);
  server.kill('SIGKILL');
  await until('its Python to be gone', () => ![host, tool, child].some(isAlive));
  await until('its folder to be gone', () => !existsSync(folder));
});
