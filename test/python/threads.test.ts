import { afterAll, describe, expect, test } from 'vitest';
import { ANN, callTool, startTestPython, toolOf } from '../support/python.ts';

const python = await startTestPython();
afterAll(() => python.close());

const WHO = 'import bridge\nwho = lambda: bridge.call("who")';

/** Calls a function as the user of this name. */
const callAs = (name: string, content: string, args: object = {}, run = 'f') =>
  callTool(
    python,
    content,
    { ...args },
    {
      function: run,
      user: { ...ANN, id: name },
      onRequest: async () => name,
    },
  );

describe('a thread of a function', () => {
  const WAYS = [
    ['threading.Thread', 'one = threading.Thread(target=work); one.start(); one.join()'],
    ['a class of threads', 'one = Own(); one.start(); one.join()'],
    ['threading.Timer', 'one = threading.Timer(0, work); one.start(); one.join()'],
    ['ThreadPoolExecutor.submit', 'ThreadPoolExecutor(1).submit(work).result()'],
    ['ThreadPoolExecutor.map', 'list(ThreadPoolExecutor(1).map(lambda _: work(), [1]))'],
    [
      'a thread of a thread',
      'one = threading.Thread(target=lambda: ThreadPoolExecutor(1).submit(work).result()); one.start(); one.join()',
    ],
    ['run_in_executor', 'asyncio.run(in_executor())'],
    ['asyncio.to_thread', 'asyncio.run(asyncio.to_thread(work))'],
  ] as const;

  test.each(WAYS)('sends requests and prints for its caller: %s', async (_way, start) => {
    const content = toolOf(
      `def f(self):
    found = []
    def work():
        found.append(who()); print("printed")
    class Own(threading.Thread):
        def run(self): work()
    async def in_executor(): await asyncio.get_running_loop().run_in_executor(None, work)
    ${start}
    return found`,
      `${WHO}\nimport asyncio, threading\nfrom concurrent.futures import ThreadPoolExecutor`,
    );
    const { result, output } = await callAs('ann', content);
    expect([result, output]).toEqual([['ann'], 'printed\n']);
  });

  test('that many callers share works for one caller at a time, and for none in between', async () => {
    const content = toolOf(
      `def f(self):
    later = []
    with gate:
        task = pool.submit(lambda: (again.wait(), who())[1])
        task.add_done_callback(lambda _: later.append(attempt()))
        again.set()
        first = task.result()
    return [first, pool.submit(who).result(), len(later)]
def late(self): return seen`,
      `${WHO}
import threading
from concurrent.futures import ThreadPoolExecutor
pool, gate, again, seen = ThreadPoolExecutor(1), threading.Lock(), threading.Event(), []
def attempt():
    try: seen.append(who())
    except RuntimeError as error: seen.append(str(error))`,
    );
    const names = ['ann', 'bob', 'eve', 'ann', 'bob'];
    const answers = await Promise.all(names.map((name) => callAs(name, content)));
    expect(answers.map(({ result }) => (result as unknown[]).slice(0, 2))).toEqual(
      names.map((name) => [name, name]),
    );
    const { result } = await callAs('ann', content, {}, 'late');
    // Callbacks that an executor runs after a work have no caller, in particular not the first one.
    expect(result).toHaveLength(names.length);
    for (const said of result as string[])
      expect(said).toMatch(/^ann$|^bob$|^eve$|only while a function of the tool runs/);
  });

  test('that outlives its call gets an error, whatever it waits for', async () => {
    const content = toolOf(
      `def f(self, __event_call__=None):
    def work():
        left.wait()
        note(who)
        note(lambda: asyncio.run(__event_call__("still there?")))
        over.set()
    threading.Thread(target=work).start()
def g(self):
    left.set()
    over.wait()
    return said
def h(self, __event_call__=None):
    started = threading.Event()
    def work():
        started.set()
        note(lambda: asyncio.run(__event_call__("hanging")))
        over.set()
    over.clear(); said.clear()
    threading.Thread(target=work).start()
    started.wait()`,
      `${WHO}
import asyncio, threading
left, over, said = threading.Event(), threading.Event(), []
def note(ask):
    try: said.append(ask())
    except RuntimeError as error: said.append(str(error))`,
    );
    await callAs('ann', content);
    const { result } = await callAs('bob', content, {}, 'g');
    expect(result).toEqual(['the function that asks has ended', 'the function that asks has ended']);
    // A question is still open when the function ends.
    await callTool(python, content, {}, { function: 'h', onAsk: () => new Promise(() => {}) });
    expect((await callAs('bob', content, {}, 'g')).result).toEqual([
      expect.stringMatching(/has ended$|waits for this call/),
    ]);
  });
});

test('cannot be replaced by a forked process', async () => {
  const content = toolOf(
    `def f(self):
    reading, writing = os.pipe()
    if os.fork() == 0:
        try: who()
        except BaseException as error: os.write(writing, str(error).encode())
        os._exit(0)
    os.close(writing); os.wait()
    return [os.read(reading, 1000).decode(), who()]`,
    `${WHO}\nimport os`,
  );
  const { result } = await callAs('ann', content);
  expect(result).toEqual([expect.stringContaining("only the tool's own process"), 'ann']);
});
