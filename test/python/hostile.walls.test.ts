/**
 * Tests that the filter of system calls and the counts of the watch stop attacks, and that published tools
 * still work.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sharedEnvironment } from '../support/python.ts';
import { FILTER, HAS_FILTER, type Hostile, needs, openHostile } from './hostile.ts';

let hostile: Hostile;
beforeAll(async () => {
  hostile = await openHostile({ memoryBytes: 256 * 1024 * 1024 });
});
afterAll(() => hostile.close());

/** System call numbers of x86-64 and arm64. */
const number = (x64: number, arm64: number) => (process.arch === 'x64' ? x64 : arm64);

describe('sockets', () => {
  test('are limited to the internet, and to socket pairs of streams', async (context) => {
    needs(context, HAS_FILTER, FILTER);
    const refused = await hostile.attempts([
      'socket.socket(socket.AF_UNIX)',
      'socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)',
      'socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)',
      'socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)',
      // Packet sockets, virtual machines, kernel cryptography, and netlink, which reports sockets and events
      // of all processes.
      'socket.socket(17, socket.SOCK_RAW)',
      'socket.socket(40, socket.SOCK_STREAM)',
      'socket.socket(38, socket.SOCK_SEQPACKET)',
      'socket.socket(16, socket.SOCK_RAW, 4)',
      'socket.socket(16, socket.SOCK_RAW, 15)',
      // Listening without a bound address.
      'socket.socket().listen()',
    ]);
    expect(refused).toEqual(Array(10).fill('PermissionError'));
    // MPTCP and SCTP take a port that the rules of Landlock do not cover.
    const streams = [262, 132].map((one) => `socket.socket(socket.AF_INET, socket.SOCK_STREAM, ${one})`);
    expect(await hostile.attempts(streams)).toEqual(Array(2).fill('OSError'));
  });

  test('cannot take names, by which fork servers claim users', async (context) => {
    needs(context, HAS_FILTER, FILTER);
    const body =
      'kept = []\ndef take(kind, uid):\n    a, b = socket.socketpair(socket.AF_UNIX, kind)\n    kept.append((a, b))\n' +
      '    a.bind(f"\\0parley-tool-user-{uid}")\n' +
      'taken = 0\nfor kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):\n    for uid in range(60706, 60706 + 478):\n' +
      '        try: take(kind, uid)\n        except OSError: pass\n        else: taken += kind == socket.SOCK_DGRAM\n' +
      'self.kept = kept\nreturn taken';
    expect(await hostile.run(body)).toMatchObject({ status: 200, body: { result: 0 } });
    expect(await hostile.run('return "started"')).toMatchObject({ body: { result: 'started' } });
  });

  test('have buffers of their default size only', async (context) => {
    needs(context, HAS_FILTER, FILTER);
    const body =
      'held = 0\nkept = []\nfor _ in range(45):\n    for one in socket.socketpair():\n        kept.append(one)\n' +
      '        for name in (7, 8, 32, 33): one.setsockopt(socket.SOL_SOCKET, name, 4 << 20)\n' +
      '        one.setblocking(False)\n        try:\n            while True: held += one.send(b"x" * 65536)\n' +
      '        except BlockingIOError: pass\nreturn held / len(kept)';
    const { status, body: answer } = await hostile.run(body);
    expect(status).toBe(200);
    expect(answer.result).toBeGreaterThan(0);
    expect(answer.result).toBeLessThan(512 * 1024);
  });

  test('count as memory of the tool and its child processes', async (context) => {
    needs(context, process.platform === 'linux', 'counts of processes');
    const body =
      'for _ in range(8):\n    if os.fork() == 0:\n        kept = [one for _ in range(110) for one in socket.socketpair()]\n' +
      '        for one in kept:\n            one.setblocking(False)\n            try:\n                while True: one.send(b"x" * 65536)\n' +
      '            except BlockingIOError: pass\n        time.sleep(60)\ntime.sleep(60)';
    const detail = expect.stringMatching(/more than 256 MiB of memory with all that it had started/);
    expect(await hostile.run(body)).toMatchObject({ status: 422, body: { detail } });
  });
});

test('refuses memory that no limit counts', async (context) => {
  needs(context, HAS_FILTER, FILTER);
  const body =
    'def no(*call):\n    ctypes.set_errno(0)\n    return [libc.syscall(*call), ctypes.get_errno()]\n' +
    `return [no(447, 0), no(${number(319, 279)}, b"x", 0), resource.getrlimit(resource.RLIMIT_MEMLOCK)]`;
  // Refused by the filter, not missing in the kernel.
  expect((await hostile.run(body)).body.result).toEqual([
    [-1, 1],
    [-1, 1],
    [0, 0],
  ]);
});

test('allows reading attributes of files and refuses changing them, by every system call', async (context) => {
  needs(context, HAS_FILTER, FILTER);
  const removals = process.arch === 'x64' ? [197, 198, 199] : [14, 15, 16];
  const body =
    // Without a valid file descriptor, each of these fails if it reaches the kernel.
    `done = [libc.syscall(n, -1, 0, 0, 0, 0, 0) for n in ${JSON.stringify([463, 466, 469, 452, ...removals])}]\n` +
    'file = os.open("a", os.O_CREAT | os.O_RDONLY)\nflags = ctypes.c_int(0x40)\n' +
    'done.append(libc.ioctl(file, ctypes.c_ulong(0x40086602), ctypes.byref(flags)))\n' +
    'libc.ioctl(file, ctypes.c_ulong(0x80086601), ctypes.byref(flags))\nreturn [done, flags.value & 0x80]';
  expect((await hostile.run(body)).body.result[0]).toEqual(Array(8).fill(0));
});

test('refuses watching the folders of others', async (context) => {
  needs(context, HAS_FILTER, FILTER);
  const body =
    'def no(*call):\n    ctypes.set_errno(0)\n    return [libc.syscall(*call), ctypes.get_errno()]\n' +
    `return [no(${number(254, 27)}, libc.inotify_init1(0), b"/tmp", 0xfff), no(${number(300, 262)}, 0, 0), ` +
    `no(${number(304, 265)}, -1, 0, 0)]`;
  expect((await hostile.run(body)).body.result).toEqual(Array(3).fill([-1, 1]));
});

test('refuses truncating files where Landlock does not cover it', async (context) => {
  needs(context, HAS_FILTER, FILTER);
  const folder = mkdtempSync(join(tmpdir(), 'parley-emptied-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  writeFileSync(file, 'kept');
  // Only the filter runs, as on a kernel with version 2 of Landlock; there the first three ways do not ask
  // Landlock.
  const script = `
import ctypes, errno, os, sys
sys.path.insert(0, ${JSON.stringify(join(import.meta.dirname, '../../src/python/host'))})
from walls import calls_filter
libc = ctypes.CDLL(None, use_errno=True)
program = calls_filter.program(2)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.c_ulong(ctypes.addressof(program)), 0, 0) == 0
def attempt(act):
    try: return act() and "done"
    except OSError as error: return errno.errorcode[error.errno]
path, other = ${JSON.stringify(file)}, ${JSON.stringify(join(folder, 'other'))}
print(*[attempt(act) for act in (
    lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
    lambda: os.open(path, 3 | os.O_TRUNC),
    lambda: os.truncate(path, 0),
    lambda: libc.syscall(437, -100, path.encode(), 0, 0) == -1 and os.strerror(ctypes.get_errno()) == os.strerror(errno.ENOSYS),
    lambda: open(path).read() == "kept",
    lambda: open(other, "w").write("mine") and open(other, "w").write("again"),
    lambda: open(other, "r+").truncate(1),
)])`;
  const python = join(await sharedEnvironment(), 'bin', 'python');
  const said = execFileSync(python, ['-I', '-c', script], { encoding: 'utf8' });
  expect(said.trim()).toBe('EPERM EPERM EPERM done done done done');
  expect(readFileSync(file, 'utf8')).toBe('kept');
});

describe('published tools still work:', () => {
  test.each<[string, string, unknown]>([
    [
      'subprocess with pipes',
      'return subprocess.run(["cat"], input="hi", capture_output=True, text=True).stdout',
      'hi',
    ],
    [
      'asyncio.create_subprocess_exec',
      'async def go():\n    cat = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)\n' +
        '    return (await cat.communicate(b"hi"))[0].decode()\nreturn asyncio.run(go())',
      'hi',
    ],
    [
      'multiprocessing with a pipe',
      'context = multiprocessing.get_context("fork")\na, b = context.Pipe()\nchild = context.Process(target=b.send, args=(5,))\n' +
        'child.start()\nsaid = a.recv()\nchild.join()\nreturn said',
      5,
    ],
    [
      'threads of concurrent.futures',
      'with concurrent.futures.ThreadPoolExecutor(2) as pool: return list(pool.map(abs, [-1, -2]))',
      [1, 2],
    ],
    [
      'names and interfaces',
      'found = socket.getaddrinfo("127.0.0.1", 80, flags=socket.AI_ADDRCONFIG, type=socket.SOCK_STREAM)\n' +
        'return [found[0][4][0], bool(socket.getaddrinfo("localhost", 80)), "lo" in dict(socket.if_nameindex()).values()]',
      ['127.0.0.1', true, true],
    ],
    [
      'datagrams',
      'with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: return s.sendto(b"x", ("127.0.0.1", 9))',
      1,
    ],
  ])('%s', async (_, body, result) => {
    expect((await hostile.run(body)).body).toMatchObject({ result });
  });

  test.each([
    ['requests', 'import requests\nreturn requests.get(url).status_code'],
    ['httpx', 'import httpx\nreturn httpx.get(url).status_code'],
    [
      'asynchronous httpx',
      'import httpx\nasync def go():\n    async with httpx.AsyncClient() as client: return (await client.get(url)).status_code\n' +
        'return asyncio.run(go())',
    ],
    [
      'aiohttp',
      'import aiohttp\nasync def go():\n    async with aiohttp.ClientSession() as session:\n' +
        '        async with session.get(url) as answer: return answer.status\nreturn asyncio.run(go())',
    ],
  ])('%s', async (_, body) => {
    const url = `${hostile.shop.server.url}/health`;
    expect((await hostile.run(body, { url }, ', url: str')).body.result).toBe(200);
  });
});
