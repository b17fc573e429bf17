import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sharedEnvironment } from '../support/python.ts';

const HOST = join(import.meta.dirname, '../../src/python/host');

/**
 * A watch with two processes as tools, of which one writes. The first argument is the disk space to keep
 * free.
 */
const WATCHED = `
import os, signal, sys, tempfile, time
sys.path.insert(0, ${JSON.stringify(HOST)})
from fork_server import watch

class Limits:
    memory_bytes = processes = cpu_seconds = scratch_bytes = scratch_files = open_files = 1 << 40

def start(work):
    pid = os.fork()
    if pid == 0:
        work()
    return pid

def write():
    while True:
        with open("written", "ab") as file: file.write(os.urandom(1 << 20))

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    seen = watch.Watch(folder, Limits, False)
    seen.reserve.spared = eval(sys.argv[1])
    tools = {start(write): folder, start(signal.pause): folder}
    found = {}
    ends = time.monotonic() + float(sys.argv[2])
    while not found and time.monotonic() < ends:
        time.sleep(0.05)
        found = seen.look(tools)
    for pid in tools: os.kill(pid, 9)
    writer, _ = tools
    print([("writer" if pid == writer else "other", reason) for pid, reason in found.items()])
`;

async function runPython(script: string, ...args: string[]): Promise<string> {
  const python = join(await sharedEnvironment(), 'bin', 'python');
  const { stdout } = await promisify(execFile)(python, ['-I', '-c', script, ...args]);
  return stdout.trim();
}

const watched = (spared: string, seconds: number) => runPython(WATCHED, spared, String(seconds));

test('ends only the tool that writes when the disk runs low', async () => {
  expect(await watched('1 << 62', 30)).toBe("[('writer', 'room')]");
});

test('does not end a tool that writes while there is enough room', async () => {
  expect(await watched('0', 0.5)).toBe('[]');
});

test('does not count the disk as the files of a tool whose own file system is not mounted yet', async () => {
  const script = `
import os, sys, tempfile
sys.path.insert(0, ${JSON.stringify(HOST)})
from fork_server import room
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, "1"))
    print(room.used(os.path.join(folder, "1")), os.statvfs(folder).f_bfree < os.statvfs(folder).f_blocks)
`;
  expect(await runPython(script)).toBe('0 True');
});
