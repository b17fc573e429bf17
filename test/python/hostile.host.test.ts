/** What tools do to the fork server, to its count of the processor, and to those that come after it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/poll.ts';
import { isAlive } from '../support/process.ts';
import { type Hostile, IMPORTS, IS_ROOT, needs, openHostile } from './hostile.ts';

const IS_LINUX = process.platform === 'linux';

let hostile: Hostile;
beforeAll(async () => {
  hostile = await openHostile({
    // Tools have little of a busy processor.
    callTimeoutMs: 100_000,
    memoryBytes: 256 * 1024 * 1024,
    cpuSeconds: 1,
  });
});
afterAll(() => hostile.close());

test.each([
  ['bytes that are no text', String.raw`b"\xff\xfe"`],
  ['a parenthesis and figures', 'b") R 1 1 1 1"'],
  ['lines', String.raw`b"x\nRssAnon: 0 kB"`],
])('a process whose name is %s is counted like any other', async (_, name) => {
  const body =
    `libc.prctl(15, ${name}, 0, 0, 0)\nx = os.urandom(1) * (150 << 20)\n` +
    'if os.fork() == 0: x = os.urandom(1) * (150 << 20)\ntime.sleep(60)';
  const detail = expect.stringMatching(/more than 256 MiB of memory/);
  expect(await hostile.run(body)).toMatchObject({ status: 422, body: { detail } });
});

// The kernel's own limit: whoever has it may raise it, and what is started begins anew.
const UNLIMITED =
  'def burn(seconds):\n    while time.process_time() < seconds: pass\n' +
  'libc.signal(24, ctypes.c_void_p(1))\n' +
  'resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n';

test.each([
  ['a process that has raised its limit', 'burn(60)'],
  [
    'many children, each within its limit',
    'for _ in range(3):\n    if os.fork() == 0:\n        burn(0.6)\n        time.sleep(60)\ntime.sleep(60)',
  ],
  [
    'children one after the other, each within its limit',
    'while True:\n    child = os.fork()\n    if child == 0:\n        burn(0.3)\n        os._exit(0)\n    os.waitpid(child, 0)',
  ],
  [
    'children that nobody waits for',
    'libc.signal(17, ctypes.c_void_p(1))\n' +
      'while True:\n    child = os.fork()\n    if child == 0:\n        burn(0.7)\n        os._exit(0)\n' +
      '    try:\n        while True: os.kill(child, time.sleep(0.01) or 0)\n    except ProcessLookupError: pass',
  ],
])('%s: the processor time of a tool is counted', async (_, body) => {
  const detail = expect.stringMatching(/used more than 1 s of processor time since its latest call/);
  expect(await hostile.run(UNLIMITED + body)).toMatchObject({ status: 422, body: { detail } });
});

test('what a call has left behind ends with its processor time', async () => {
  const body = `${UNLIMITED}threading.Thread(target=burn, args=(60,)).start()\nreturn os.getpid()`;
  const { body: answer } = await hostile.run(body);
  await until('the process to be gone', () => !isAlive({ pid: answer.result }), 100_000);
});

test('each call has the processor time anew', async () => {
  const content = `${IMPORTS}class Tools:
    def f(self):
        began = time.process_time()
        while time.process_time() < began + 0.6: pass
        return os.getpid()
`;
  expect((await hostile.shop.create('diligent', content)).status).toBe(200);
  const pids = [];
  for (let call = 0; call < 2; call += 1) pids.push((await hostile.use('diligent', 'f')).body.result);
  expect(new Set(pids).size).toBe(1);
});

test('what outlives the fork server is ended, and its folder goes without harm to what it links to', async (context) => {
  needs(context, IS_LINUX, 'a process that takes over the children of another');
  const target = await mkdtemp(join(tmpdir(), 'parley-target-'));
  onTestFinished(() => rm(target, { recursive: true }));
  await writeFile(join(target, 'kept'), 'kept');
  // A folder and a link that change places all the time, for whoever removes them by their path.
  const content = `${IMPORTS}class Tools:
    def f(self):
        os.mkdir("a")
        open("a/file", "w").close()
        os.symlink(${JSON.stringify(target)}, "b")
        children = [subprocess.Popen(["sleep", "60"], process_group=0).pid]
        for _ in range(3):
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                while True: libc.renameat2(-100, b"a", -100, b"b", 2)
            children.append(child)
        return [os.getppid(), os.getcwd(), children]
`;
  expect((await hostile.shop.create('outliving', content)).status).toBe(200);
  const [host, folder, children] = (await hostile.use('outliving', 'f')).body.result;
  expect(children.filter((pid: number) => isAlive({ pid }))).toHaveLength(4);
  process.kill(host, 'SIGKILL');
  await until('them to be gone', () => children.every((pid: number) => !isAlive({ pid })));
  await until('the folder to be gone', () => !existsSync(join(folder, '..')));
  expect(existsSync(join(target, 'kept'))).toBe(true);
  // Others come back with a new fork server.
  await until('the neighbour', async () => typeof (await hostile.neighbour()) === 'number');
});

test('a tool ends what had its user before it', async ({ skip }) => {
  if (!IS_ROOT) skip('the server is not root');
  const uidOf = async (id: string) => {
    const content = `${IMPORTS}class Tools:\n    def f(self): return os.getuid()\n`;
    expect((await hostile.shop.create(id, content)).status).toBe(200);
    return (await hostile.use(id, 'f')).body.result as number;
  };
  const uid = await uidOf('before');
  // Users are taken in turn.
  const others = Array.from({ length: 20 }, (_, i) => 60_706 + ((uid - 60_706 + i + 1) % 478));
  const survivors = others.map((other) => spawn('sleep', ['60'], { uid: other, gid: other }));
  onTestFinished(() => survivors.forEach((one) => void one.kill('SIGKILL')));
  const next = await uidOf('after');
  expect(others).toContain(next);
  const survivor = survivors[others.indexOf(next)];
  await until('the survivor to be gone', () => survivor?.signalCode === 'SIGKILL');
});
