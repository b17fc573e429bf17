import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/python/limits.ts';
import type { Python } from '../../src/python/pool.ts';
import { until } from '../support/poll.ts';
import { callTool, startTestPython, toolOf } from '../support/python.ts';
import { FILTER, HAS_FILTER, IS_ROOT, needs } from './hostile.ts';

let python: Python;
let secrets: string;
beforeAll(async () => {
  secrets = await mkdtemp(join(tmpdir(), 'parley-secrets-'));
  await writeFile(join(secrets, 'secret.key'), 'hunter2', { mode: 0o644 });
  python = await startTestPython({ memoryBytes: 256 * 1024 * 1024 });
}, 300_000);
afterAll(async () => {
  await python.close();
  await rm(secrets, { recursive: true });
});

const IMPORTS =
  'import asyncio, ctypes, json, multiprocessing, os, signal, socket, subprocess, sys, threading, time';
const call = (body: string, more = {}, prefix = 'def') =>
  callTool(python, toolOf(`${prefix} f(self):\n    ${body.replaceAll('\n', '\n    ')}`, IMPORTS), {}, more);

const NEIGHBOUR = { id: 'neighbour', content: toolOf('def f(self): return "here"') };
// After each attack, the next tool answers.
afterEach(async () => {
  const { result } = await callTool(python, NEIGHBOUR.content, {}, { tool: NEIGHBOUR });
  expect(result).toBe('here');
});

describe('ends at the time limit', () => {
  test.each<[string, string, string]>([
    ['an endless loop', 'def', 'while True: pass'],
    ['an endless loop on the event loop', 'async def', 'while True: pass'],
    ['a sleep', 'def', 'time.sleep(60)'],
    ['an asynchronous sleep', 'async def', 'await asyncio.sleep(60)'],
    [
      'a loop that catches everything',
      'def',
      'while True:\n    try: time.sleep(60)\n    except BaseException: pass',
    ],
    [
      'ignored signals',
      'async def',
      'for s in (1, 2, 3, 13, 14, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(60)',
    ],
    ['a stopped process', 'def', 'os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(60)'],
  ])('%s', async (_, prefix, body) => {
    await expect(call(body, { timeoutMs: 300 }, prefix)).rejects.toMatchObject({
      code: 'tool_timeout',
      status: 504,
    });
  });

  test('a class body that hangs', async ({ onTestFinished }) => {
    const hasty = await startTestPython({ loadTimeoutMs: 1_000 });
    onTestFinished(() => hasty.close());
    await expect(
      hasty.inspect({ id: 'tool', content: 'class Tools:\n    while True: pass' }),
    ).rejects.toMatchObject({
      code: 'tool_invalid',
      message: expect.stringMatching(/did not finish loading within 1 s\. .* belongs into its functions/),
    });
  });
});

describe('ends with a clear error', () => {
  test.each<[string, string, RegExp]>([
    ['os._exit', 'os._exit(3)', /ended: exit status 3/],
    ['os.abort', 'os.abort()', /crashed \(SIGABRT\)/],
    ['a null pointer', 'ctypes.string_at(0)', /crashed \(SIGSEGV\)/],
    ['SIGKILL to itself', 'os.kill(os.getpid(), 9)', /it was killed/],
    ['a memory bomb', 'x = []\nwhile True: x.append(bytearray(1 << 24))', /MemoryError/],
    [
      'shared memory',
      'import mmap\nx = [mmap.mmap(-1, 1 << 26) for _ in range(64)]',
      /MemoryError|Cannot allocate|OSError/,
    ],
    ['a huge result', 'return "x" * (9 << 20)', /at most 8388608 are allowed/],
    [
      'recursion without a limit',
      'sys.setrecursionlimit(10**9)\ng = lambda x: [*map(g, [x])]\ng(1)',
      /crashed|MemoryError/,
    ],
    ['a nested result', 'x = []\nfor _ in range(10**5): x = [x]\nreturn x', /has no JSON form/],
    [
      'a huge file',
      'with open("big", "wb") as f:\n    while True: f.write(b"x" * (1 << 24))',
      /File too large/,
    ],
    ['many files', 'x = [open("/dev/null") for _ in range(10**4)]', /Too many open files/],
    [
      'many threads',
      'for _ in range(10**4): threading.Thread(target=time.sleep, args=(60,)).start()',
      /can't start new thread/,
    ],
  ])('%s', async (_, body, message) => {
    await expect(call(body)).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringMatching(message),
    });
  });
});

describe('the channel', () => {
  test('gets nothing of the output of a tool, printed in any way', async () => {
    const body =
      'print("x" * (1 << 20))\nfor _ in range(100): os.write(1, b"y" * (1 << 20)); os.write(2, b"z" * (1 << 20))\n' +
      'subprocess.run(["echo", "{}"])\nreturn "done"';
    const { result, output } = await call(body);
    expect(result).toBe('done');
    expect(output).toBe(`${'x'.repeat(8191)}\n`);
  });

  test.each<[string, string]>([
    ['garbage', 'b"\\x00\\x00\\x00\\x02no"'],
    ['a frame of another shape', 'b"\\x00\\x00\\x00\\x02{}"'],
    ['a frame without end', 'b"\\x7f\\xff\\xff\\xff" + b"x" * (1 << 20)'],
  ])('%s ends the process', async (_, bytes) => {
    const body = `for fd in range(3, 64):\n    try: os.write(fd, ${bytes})\n    except OSError: pass\ntime.sleep(60)`;
    await expect(call(body)).rejects.toMatchObject({ code: 'tool_raised' });
  });

  // Written past the count of the host: the server would keep all of them for the answer.
  test('a flood of events ends the process', async () => {
    const body =
      'event = b\'{"kind":"event","call":1}\\n\' + json.dumps("A" * (1 << 20)).encode()\n' +
      'frame = len(event).to_bytes(4, "big") + event\n' +
      'import gc\nsession = next(o for o in gc.get_objects() if type(o).__name__ == "Session")\n' +
      'session.connection.setblocking(True)\nsession.connection.sendall(frame * 50)\ntime.sleep(60)';
    await expect(call(body)).rejects.toMatchObject({ code: 'tool_raised' });
  });

  test('closing it ends the process', async () => {
    await expect(call('os.closerange(3, 256)\ntime.sleep(60)', { timeoutMs: 1_000 })).rejects.toMatchObject({
      message: expect.stringMatching(/ended|took longer/),
    });
  });
});

const attempt = (expression: string) =>
  `try: return [${expression}, "reached"]\nexcept BaseException as e: return type(e).__name__`;

describe('a tool cannot reach', () => {
  test('the environment of the server', async () => {
    const { result } = await call('return sorted(os.environ)');
    const threads = ['OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'];
    expect(result).toEqual(['HOME', 'LANG', 'MALLOC_ARENA_MAX', ...threads, 'PATH', 'TMPDIR']);
  });

  test('files of the server', async (context) => {
    needs(context, !python.state().detail.includes('Landlock'), 'a kernel with Landlock');
    for (const path of [join(secrets, 'secret.key'), import.meta.filename, '/etc/passwd', '/etc/shadow']) {
      expect((await call(attempt(`open(${JSON.stringify(path)}).read()`))).result).toBe('PermissionError');
    }
    expect((await call(attempt(`os.listdir(${JSON.stringify(secrets)})`))).result).toBe('PermissionError');
    const target = join(secrets, 'written');
    expect((await call(attempt(`open(${JSON.stringify(target)}, "w")`))).result).toBe('PermissionError');
    expect(existsSync(target)).toBe(false);
  });

  test('folders other than its own for writing', async () => {
    const { result } = await call(
      'open("a.txt", "w").write("mine")\nimport tempfile\nwith tempfile.TemporaryFile() as t: t.write(b"x")\n' +
        'return [open("a.txt").read(), os.getcwd() == os.environ["HOME"]]',
    );
    expect(result).toEqual(['mine', true]);
  });

  test('the data of other processes', async () => {
    const { result } = await call(
      'out = []\nfor pid in (os.getppid(), ' +
        `${process.pid}):\n    for name in ("environ", "mem", "maps"):\n        try: out.append(open(f"/proc/{pid}/{name}").read())\n` +
        '        except OSError as e: out.append(type(e).__name__)\nreturn out',
    );
    expect(new Set(result as string[])).toEqual(new Set(['PermissionError']));
  });

  test('other processes by signals', async (context) => {
    needs(context, !python.state().detail.includes('can signal'), 'signals that stay within a tool');
    const { result } = await call(
      `out = []\nfor pid in (os.getppid(), ${process.pid}):\n    try: os.kill(pid, 9)\n    except OSError as e: out.append(type(e).__name__)\nreturn out`,
    );
    expect(result).toEqual(['PermissionError', 'PermissionError']);
  });

  test('limits of other processes, modes of files, and memory that is not counted', async (context) => {
    needs(context, HAS_FILTER, FILTER);
    const limit = `__import__("resource").prlimit(${process.pid}, 7, (64, 64))`;
    expect((await call(attempt(limit))).result).toBe('PermissionError');
    expect((await call(attempt('os.memfd_create("x")'))).result).toBe('PermissionError');
    const file = join(secrets, 'secret.key');
    const before = statSync(file).mode;
    await call(`os.chmod(${JSON.stringify(file)}, 0o777)`);
    expect(statSync(file).mode).toBe(before);
    const copied = await call(
      'open("a", "w").write("x")\nimport shutil\nshutil.copy2("a", "b")\nreturn open("b").read()',
    );
    expect(copied.result).toBe('x');
  });

  test('a larger share of the processor', async (context) => {
    needs(context, HAS_FILTER, FILTER);
    expect((await call('return os.getpriority(os.PRIO_PROCESS, 0)')).result).toBe(15);
    // For users other than root, the kernel limits this to ten a second for all together, and a tool may
    // start without it.
    if (existsSync('/proc/self/autogroup') && IS_ROOT) {
      const group = await call('return open("/proc/self/autogroup").read()');
      expect(group.result).toMatch(/ nice 10\n$/);
    }
    // A session of its own, or another scheduling policy, would get a share of its own.
    const ownSession = 'subprocess.Popen(["true"], start_new_session=True)';
    expect((await call(attempt(ownSession))).result).toBe('PermissionError');
    expect((await call(attempt('os.sched_setscheduler(0, 0, os.sched_param(0))'))).result).toBe(
      'PermissionError',
    );
  });

  test('a namespace of its own, by any call', async (context) => {
    needs(context, HAS_FILTER, FILTER);
    const [clone, unshare] = process.arch === 'x64' ? [56, 272] : [220, 97];
    const body =
      'libc = ctypes.CDLL(None, use_errno=True)\ndef no(*call): return [libc.syscall(*call), ctypes.get_errno()]\n' +
      `return [no(${clone}, 0x10000011, 0, 0, 0, 0), no(${unshare}, 0x10000000), no(435, 0, 0)]`;
    expect((await call(body)).result).toEqual([
      [-1, 1],
      [-1, 1],
      [-1, 38],
    ]);
  });

  test('other processes, but may signal its own', async () => {
    const { result } = await call('p = subprocess.Popen(["sleep", "60"])\np.kill()\nreturn p.wait()');
    expect(result).toBe(-9);
  });

  test('the user root', async ({ skip }) => {
    if (!IS_ROOT) skip('the server is not root');
    const { result } = await call('return os.getresuid() + os.getresgid() + tuple(os.getgroups())');
    expect(result).toHaveLength(6);
    expect(result).not.toContain(0);
  });

  test('Unix sockets', async () => {
    const path = join(secrets, 'database');
    const server = createServer().listen(path);
    await until('the socket', () => server.listening);
    const { result } = await call(attempt(`socket.socket(socket.AF_UNIX).connect(${JSON.stringify(path)})`));
    server.close();
    expect(result).toBe('PermissionError');
    const again = await call('a, b = socket.socketpair()\nreturn socket.socket().family == socket.AF_INET');
    expect(again.result).toBe(true);
  });
});

/** Processes whose command line contains the text. */
function running(text: string): string[] {
  const list = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return list.split('\n').filter((line) => line.includes(text));
}

describe('leaves nothing behind:', () => {
  test('a bomb of processes is bounded and removed', async () => {
    // Small processes, each in a group of its own, so that only their number is too large.
    const nap = `8${process.pid}.5`;
    const content = toolOf(
      'def f(self, __event_emitter__):\n' +
        `    try:\n        while True: os.posix_spawnp("sleep", ["sleep", "${nap}"], {}, setpgroup=0)\n` +
        '    except OSError: pass\n    asyncio.run(__event_emitter__({}))\n    time.sleep(600)',
      IMPORTS,
    );
    const leaving = new AbortController();
    const isFull = Promise.withResolvers<unknown>();
    const bombing = callTool(python, content, {}, { signal: leaving.signal, onEvent: isFull.resolve });
    bombing.catch(isFull.reject);
    isFull.promise.catch(() => {});
    if (IS_ROOT) {
      // When the tools of root have users of their own, the kernel counts the processes of each and refuses
      // more.
      await isFull.promise;
      const size = running(`sleep ${nap}`).length;
      expect(size).toBeGreaterThan(0);
      expect(size).toBeLessThanOrEqual(DEFAULT_LIMITS.tasksPerTool);
      leaving.abort(new Error('gone'));
      await expect(bombing).rejects.toThrow('gone');
    } else {
      // For an ordinary user the kernel counts all processes of the user together, and the watch ends the
      // tool.
      await expect(bombing).rejects.toMatchObject({ code: 'tool_raised' });
    }
    await until('the bomb to be gone', () => running(`sleep ${nap}`).length === 0);
  });

  test('a detached process ends with its tool', async () => {
    const nap = `7${process.pid}.25`;
    const body = `subprocess.Popen(["sleep", "${nap}"], process_group=0)\nif os.fork() == 0:\n    os.setpgid(0, 0)\n    if os.fork() == 0: os.execvp("sleep", ["sleep", "${nap}"])\n    os._exit(0)\nreturn 1`;
    expect((await call(body)).result).toBe(1);
    expect(running(`sleep ${nap}`).length).toBeGreaterThan(0);
    python.evict('tool');
    await until('the sleeps to be gone', () => running(`sleep ${nap}`).length === 0);
  });

  test('the folder of the tool is removed', async () => {
    const { result } = await call('return os.getcwd()');
    expect(existsSync(String(result))).toBe(true);
    python.evict('tool');
    await until('the folder to be gone', () => !existsSync(String(result)));
  });

  test('the folder of the tool is removed at any depth', async () => {
    const content = toolOf(
      'def home(self): return os.getcwd()\ndef f(self):\n    for _ in range(3000):\n        os.mkdir("d")\n        os.chdir("d")',
      IMPORTS,
    );
    const { result } = await callTool(python, content, {}, { function: 'home' });
    expect(existsSync(String(result))).toBe(true);
    // The watch may end the process for the depth of its folder before the call returns.
    await callTool(python, content).catch(() => {});
    python.evict('tool');
    await until('the folder to be gone', () => !existsSync(String(result)));
  });
});
