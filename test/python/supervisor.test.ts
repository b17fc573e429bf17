import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/python/limits.ts';
import { type Supervisor, superviseHost } from '../../src/python/supervisor.ts';
import { until } from '../support/poll.ts';
import { descendantsOf } from '../support/process.ts';
import { sharedEnvironment } from '../support/python.ts';

let supervisor: Supervisor | undefined;
afterEach(() => supervisor?.close());

test('reports a host that does not stay up as unavailable, and tries again later', async () => {
  const lines: string[] = [];
  const log = { info: () => {}, warn: (line: string) => void lines.push(line) };
  const folder = await sharedEnvironment();
  const others = new Set((await descendantsOf(process.pid)).map(({ pid }) => pid));
  const started = superviseHost({
    folder,
    interpreter: undefined,
    limits: DEFAULT_LIMITS,
    log,
    retryMs: 2_000,
  });
  supervisor = started;
  await started.settled;
  let killed = 0;
  while (started.state().state !== 'unavailable') {
    const hosts = (await descendantsOf(process.pid)).filter(
      ({ pid, command }) => !others.has(pid) && command.includes('server.py'),
    );
    if (started.state().state === 'ready') for (const { pid } of hosts) process.kill(pid, 'SIGKILL');
    killed += hosts.length;
    await until('the next state', () => started.state().state !== 'ready');
    await until('the host, or that there is none', () => started.state().state !== 'starting');
  }
  expect(killed).toBeGreaterThan(5);
  expect(started.state().detail).toMatch(/does not stay up.*tried again every minute/);
  await expect(started.host()).rejects.toMatchObject({ code: 'python_unavailable' });
  await until('another host', () => started.state().state === 'ready');
  expect((await started.base()).python).toContain(folder);
  expect(lines.filter((line) => line.startsWith('The Python host ended'))).toHaveLength(6);
});

test('makes an environment that failed at the start once it is possible', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-remade-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'file'), '');
  const interpreter = join(folder, 'python3');
  const lines: string[] = [];
  const started = superviseHost({
    // A file is in the way of the folder.
    folder: join(folder, 'file', 'python'),
    interpreter,
    limits: DEFAULT_LIMITS,
    log: { info: () => {}, warn: (line) => void lines.push(line) },
    retryMs: 50,
  });
  supervisor = started;
  await started.settled;
  expect(started.state()).toMatchObject({
    state: 'unavailable',
    detail: expect.stringMatching(/It is tried again in \d+ s/),
  });
  // The interpreter has Pydantic, so it is used without an environment.
  await symlink(join(await sharedEnvironment(), 'bin', 'python'), interpreter);
  await until('Python', () => started.state().state === 'ready');
  expect(lines.length).toBeGreaterThan(0);
});
