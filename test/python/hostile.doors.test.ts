import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Workshop } from '../tools/workshop.ts';
import { FILTER, HAS_FILTER, type Hostile, IS_ROOT, needs, openHostile } from './hostile.ts';

let hostile: Hostile;
let shop: Workshop;
let neighbour: number;
beforeAll(async () => {
  hostile = await openHostile({
    memoryBytes: 256 * 1024 * 1024,
    scratchBytes: 16 * 1024 * 1024,
    scratchFiles: 100,
  });
  shop = hostile.shop;
});
afterAll(() => hostile.close());
beforeEach(async () => {
  neighbour = await hostile.neighbour();
});

test.each<[string, string, number, RegExp]>([
  ['os._exit', 'os._exit(3)', 422, /exit status 3/],
  ['sys.exit', 'sys.exit(3)', 422, /tried to end its process/],
  ['a fork bomb', 'while True:\n    try: os.fork()\n    except OSError: pass', 422, /more than 256 MiB/],
  ['a memory bomb', 'x = []\nwhile True: x.append(bytearray(1 << 24))', 422, /MemoryError/],
  ['a result of 1 GB', 'return "x" * (1 << 30)', 422, /MemoryError/],
  ['a result without JSON form', 'return object()', 422, /has no JSON form/],
  ['deep recursion', 'f = lambda: f()\nf()', 422, /RecursionError/],
  ['a result that is nested too deeply', 'x = []\nfor _ in range(10**5): x = [x]\nreturn x', 422, /JSON/],
  [
    'memory of children, each within its limit',
    'for _ in range(4):\n    if os.fork() == 0:\n        x = os.urandom(1) * (128 << 20)\n        time.sleep(60)\ntime.sleep(60)',
    422,
    /more than 256 MiB of memory with all that it had started/,
  ],
  [
    'a disk full of files, each within its limit',
    'for i in range(10**4): open(str(i), "wb").write(b"x" * (1 << 20))\ntime.sleep(60)',
    422,
    /files took more than 16 MiB|No space left/,
  ],
  [
    'a bomb of files',
    'for i in range(10**5): open(str(i), "w")\ntime.sleep(60)',
    422,
    /more than 100 files|No space left/,
  ],
  [
    'a thousand folders, each within the other',
    'for _ in range(1000):\n    os.mkdir("d")\n    os.chdir("d")\ntime.sleep(60)',
    422,
    /too deep|No space left/,
  ],
])('%s is an error for its caller only', async (_, body, status, detail) => {
  const answer = await hostile.run(body);
  expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } });
});

test('sign-ins by a tool count to the limit of one network', async () => {
  const body = [
    'import json, urllib.error, urllib.request',
    'statuses = []',
    'for i in range(31):',
    '    sent = json.dumps({"email": f"guess{i}@example.com", "password": "wrong"}).encode()',
    '    headers = {"content-type": "application/json", "x-forwarded-for": f"198.51.100.{i}"}',
    `    request = urllib.request.Request("${shop.server.url}/api/v1/auths/signin", sent, headers)`,
    '    try: urllib.request.urlopen(request)',
    '    except urllib.error.HTTPError as error: statuses.append(error.code)',
    'return statuses',
  ].join('\n');
  const answer = await hostile.run(body);
  expect(answer).toMatchObject({ status: 200, body: { result: [...Array(30).fill(400), 429] } });
});

test('1 GB of output is discarded', async () => {
  const body =
    'for _ in range(512):\n    print("x" * (1 << 20))\n    os.write(1, b"y" * (1 << 20))\nreturn "done"';
  expect(await hostile.run(body)).toMatchObject({ status: 200, body: { result: 'done', events: [] } });
});

test('sys.exit in a thread ends only the thread', async () => {
  const body = 't = threading.Thread(target=sys.exit)\nt.start()\nt.join()\nreturn "here"';
  expect((await hostile.run(body)).body.result).toBe('here');
});

test('a result with a pickle trap is never unpickled', async () => {
  const trap = join(shop.server.dataDir, 'sprung');
  const body = `class Trap:\n    def __reduce__(self): return (os.mkdir, (${JSON.stringify(trap)},))\nreturn Trap()`;
  expect(await hostile.run(body)).toMatchObject({ status: 422, body: { code: 'tool_raised' } });
  expect(existsSync(trap)).toBe(false);
});

test('a module may print while it loads', async () => {
  const content =
    'import os\nprint("{}" * 1000)\nos.write(1, b"{}\\n")\nclass Tools:\n    def f(self): return 1';
  expect((await hostile.beside(() => shop.create('printing', content))).status).toBe(200);
  expect((await hostile.use('printing', 'f')).body.result).toBe(1);
});

test('a tool cannot read the environment, data folder, secret key and database', async (context) => {
  needs(context, !/Landlock|ports/.test(hostile.missing()), 'a kernel with Landlock that knows ports');
  const folder = shop.server.dataDir;
  const found = await hostile.attempts([
    'os.environ["PARLEY_TEST_MARK"]',
    `os.listdir(${JSON.stringify(folder)})`,
    `open(${JSON.stringify(join(folder, 'secret.key'))}).read()`,
    `open(${JSON.stringify(join(folder, 'planted'))}, "w")`,
    'open("/tmp/planted-by-a-tool", "w")',
    'socket.socket(socket.AF_UNIX)',
    `socket.create_server(("127.0.0.1", ${new URL(shop.server.url).port}), reuse_port=True)`,
    'os.listdir("/proc")',
    'os.listdir("..")',
    `open("/proc/${process.pid}/environ").read()`,
    `open("/proc/${process.pid}/mem", "rb")`,
  ]);
  expect(found).toEqual(['KeyError', ...Array(10).fill('PermissionError')]);
  expect(existsSync(join(folder, 'planted'))).toBe(false);
});

test('a tool cannot read the settings and memory of another tool, or end it', async (context) => {
  needs(
    context,
    !/Landlock|can signal/.test(hostile.missing()),
    'Landlock, and signals that stay within a tool',
  );
  const found = await hostile.attempts(
    [
      'open(f"/proc/{pid}/mem", "rb")',
      'open(f"/proc/{pid}/environ").read()',
      'os.listdir(f"/proc/{pid}/cwd")',
      'os.kill(pid, 9)',
      'os.kill(os.getppid(), 9)',
      `os.kill(${process.pid}, 9)`,
      'os.setpriority(os.PRIO_PROCESS, pid, 19)',
    ],
    { pid: neighbour },
    ', pid: int',
  );
  expect(found).toEqual(Array(7).fill('PermissionError'));
});

test('deleted open files count to the disk limit', async ({ skip }) => {
  if (!IS_ROOT) skip('the server is not root, and may not see them');
  const body =
    'kept = []\nfor _ in range(200):\n    kept.append(open("a", "wb", 0))\n    os.unlink("a")\n' +
    '    kept[-1].write(b"x" * (1 << 20))\ntime.sleep(60)';
  const detail = expect.stringMatching(/files took more than 16 MiB|No space left/);
  expect(await hostile.run(body)).toMatchObject({ status: 422, body: { detail } });
});

test.each<[string, string]>([
  [
    'are only mapped',
    'kept = []\nfor _ in range(200):\n    f = open("a", "wb+")\n    f.truncate(1 << 20)\n    kept.append(mmap.mmap(f.fileno(), 1 << 20))\n' +
      '    os.unlink("a")\n    f.close()\n    kept[-1][:] = b"x" * (1 << 20)',
  ],
  [
    'are only in flight over a socket',
    'one, other = socket.socketpair()\nfor _ in range(200):\n    f = open("a", "wb", 0)\n    os.unlink("a")\n    socket.send_fds(one, [b"x"], [f.fileno()])\n' +
      '    f.write(b"x" * (1 << 20))\n    f.close()',
  ],
])('files that %s take no more room', async (_what, body) => {
  if (hostile.missing().includes('no right to mount')) return;
  const detail = expect.stringMatching(/No space left|SIGBUS/);
  expect(await hostile.run(`import mmap\n${body}\ntime.sleep(60)`)).toMatchObject({
    status: 422,
    body: { detail },
  });
});

test('a tool cannot reserve disk space without writing; the C library writes instead', async (context) => {
  needs(context, HAS_FILTER, FILTER);
  const body =
    'file = os.open("a", os.O_RDWR | os.O_CREAT)\nfound = []\nimport fcntl\n' +
    'for size in (1 << 20, 1 << 40):\n    libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(size))\n    found.append(os.strerror(ctypes.get_errno()))\n' +
    'for request in (0x40305828, 0x4030582A, 0x40305839):\n    try: fcntl.ioctl(file, request, struct.pack("hhqqiI4i", 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, 0))\n' +
    '    except OSError as e: found.append(e.strerror)\n' +
    'found.append(os.fstat(file).st_blocks)\nos.posix_fallocate(file, 0, 1 << 20)\nfound.append(os.fstat(file).st_size)\nreturn found';
  expect((await hostile.run(`import struct\n${body}`)).body.result).toEqual([
    ...Array(5).fill('Operation not supported'),
    0,
    1 << 20,
  ]);
});
