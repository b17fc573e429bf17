/** Attacks on the fork server, on its counts, and on the tools that follow. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/poll.ts';
import { isAlive } from '../support/process.ts';
import { sharedEnvironment } from '../support/python.ts';
import { type Hostile, IMPORTS, IS_ROOT, needs, openHostile } from './hostile.ts';

const IS_LINUX = process.platform === 'linux';

let hostile: Hostile;
beforeAll(async () => {
  hostile = await openHostile({ memoryBytes: 256 * 1024 * 1024 });
});
afterAll(() => hostile.close());

test.each([
  ['not UTF-8', String.raw`b"\xff\xfe"`],
  ['a parenthesis and numbers', 'b") R 1 1 1 1"'],
  ['lines', String.raw`b"x\nRssAnon: 0 kB"`],
])('a process whose name is %s is counted like any other', async (_, name) => {
  const body =
    `libc.prctl(15, ${name}, 0, 0, 0)\nx = os.urandom(1) * (150 << 20)\n` +
    'if os.fork() == 0: x = os.urandom(1) * (150 << 20)\ntime.sleep(60)';
  const detail = expect.stringMatching(/more than 256 MiB of memory/);
  expect(await hostile.run(body)).toMatchObject({ status: 422, body: { detail } });
});

test('processes that outlive the fork server are ended, and removing their folder follows no link', async (context) => {
  needs(context, IS_LINUX, 'a process that takes over the children of another');
  const target = await mkdtemp(join(tmpdir(), 'parley-target-'));
  onTestFinished(() => rm(target, { recursive: true }));
  await writeFile(join(target, 'kept'), 'kept');
  // The folder and the link swap places all the time, to trick a removal by path.
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
  // A new fork server starts the other tools again.
  await until('the neighbour', async () => typeof (await hostile.neighbour()) === 'number');
});

test('a tool process ends processes that the previous tool with its user left', async ({ skip }) => {
  if (!IS_ROOT) skip('the server is not root');
  const uidOf = async (id: string) => {
    const content = `${IMPORTS}class Tools:\n    def f(self): return os.getuid()\n`;
    expect((await hostile.shop.create(id, content)).status).toBe(200);
    return (await hostile.use(id, 'f')).body.result as number;
  };
  const uid = await uidOf('before');
  // Users are taken in turn, except those that another server of this machine has claimed.
  const others = Array.from({ length: 100 }, (_, i) => 60_706 + ((uid - 60_706 + i + 1) % 478));
  const survivors = others.map((other) => spawn('sleep', ['60'], { uid: other, gid: other }));
  onTestFinished(() => survivors.forEach((one) => void one.kill('SIGKILL')));
  const next = await uidOf('after');
  expect(others).toContain(next);
  const survivor = survivors[others.indexOf(next)];
  await until('the survivor to be gone', () => survivor?.signalCode === 'SIGKILL');
});

test('a tool process holds its user until it has ended the processes of the previous tool', async ({
  skip,
}) => {
  if (!IS_ROOT || process.platform !== 'linux') skip('the server is not root, or not on Linux');
  const folder = await mkdtemp(join(tmpdir(), 'parley-claims-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o711);
  // The parent, in the place of a fork server, gives up its claim before its child is confined, as if it had ended.
  const script = `
import os, sys
sys.path.insert(0, sys.argv[1])
from fork_server import forks
from walls import confine
server = object.__new__(forks.ForkServer)
server.folder, server.is_mounted, server.own = sys.argv[2], False, []
server.limits = confine.Limits(1 << 29, 1 << 26, 256, 128, 120, 1 << 28, 10_000)
server.users = {1: confine.claim_uid(1)}
uid, claim = server.users[1]
state = lambda: "held" if (found := confine.claim_of(uid)) is None else found.close() or "free"
said, say = os.pipe()
told, tell = os.pipe()
confine._end_others = lambda: os.write(say, state().encode())
if os.fork() == 0:
    os.read(told, 1)
    server.confine(1, None)
    os.write(say, b"done")
    os.read(told, 1)
    os._exit(0)
os.close(say)
claim.close()
os.write(tell, b"a")
print(os.read(said, 4).decode(), os.read(said, 4).decode(), state())
os.write(tell, b"b")
os.wait()`;
  const python = join(await sharedEnvironment(), 'bin', 'python');
  const host = join(import.meta.dirname, '../../src/python/host');
  const { stdout } = await promisify(execFile)(python, ['-I', '-c', script, host, folder], {
    timeout: 20_000,
  });
  expect(stdout.trim()).toBe('held done free');
});
