import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/poll.ts';
import { ANN, callTool, startTestPython, toolOf } from '../support/python.ts';

const python = await startTestPython();
afterAll(() => python.close());

const call = (content: string, args = {}, more = {}) => callTool(python, content, args, more);

describe('arguments', () => {
  const add = toolOf('def f(self, a: int, b: int = 1, *, note: str = None): return [a, b, note]');

  test('get their defaults, and convert without loss', async () => {
    expect((await call(add, { a: '2' })).result).toEqual([2, 1, null]);
    expect((await call(add, { a: 2.0, b: 5, note: 7 })).result).toEqual([2, 5, '7']);
    expect((await call(add, { a: 2, note: null })).result).toEqual([2, 1, null]);
  });

  test.each<[Record<string, unknown>, string]>([
    [{}, 'a'],
    [{ a: 'two' }, 'a'],
    [{ a: 2.5 }, 'a'],
    [{ a: 1, days: 3 }, 'days'],
    [{ a: 1, self: 3 }, 'self'],
    [{ a: 1, __user__: { role: 'admin' } }, '__user__'],
  ])('%j are refused', async (args, path) => {
    await expect(call(add, args)).rejects.toMatchObject({
      code: 'arguments_invalid',
      issues: [{ path, message: expect.any(String) }],
    });
  });

  test('become the types of the hints', async () => {
    const content = toolOf(
      'def f(self, place: Place, day: date, kinds: set[int], k: int = Field(7)):\n' +
        '    return [type(place).__name__, place.floor, day.isoformat(), sorted(kinds), k]',
      'from datetime import date\nfrom pydantic import BaseModel, Field\nclass Place(BaseModel):\n  floor: int\n',
    );
    const { result } = await call(content, { place: { floor: 3 }, day: '2026-01-31', kinds: [2, 1] });
    expect(result).toEqual(['Place', 3, '2026-01-31', [1, 2], 7]);
  });

  test('for a missing function are refused', async () => {
    await expect(call(add, {}, { function: 'g' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(call(add, {}, { function: '__init__' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('hidden parameters', () => {
  test('are passed only to functions that declare them', async () => {
    const content = toolOf(
      'def f(self, x: int, __user__, __id__, __other__, __oauth_token__=1, __mine__={"a": 1}):\n' +
        '    return [__user__, __id__, __other__, __oauth_token__, __mine__]',
    );
    expect((await call(content, { x: 1 })).result).toEqual([ANN, 'tool', null, null, { a: 1 }]);
  });

  test('carry the context of the call, which is empty without a conversation', async () => {
    const content = toolOf(
      'def f(self, __messages__, __files__, __metadata__, __model__, __chat_id__, __message_id__):\n' +
        '    return [__messages__, __files__, __metadata__, __model__, __chat_id__, __message_id__]',
    );
    expect((await call(content)).result).toEqual([[], [], {}, {}, null, null]);
    const context = {
      messages: [{ role: 'user', content: 'hello' }],
      files: [{ id: 'f' }],
      metadata: { interface: 'channel' },
      model: { id: 'm' },
      chat_id: 'c',
      message_id: 'n',
    };
    expect((await call(content, {}, { context })).result).toEqual(Object.values(context));
  });

  test('can be copied and pickled like the objects that they replace', async () => {
    const content = toolOf(
      `def f(self, __messages__, __metadata__, __request__):
    given = [__messages__, __metadata__, __request__.headers]
    return [pickle.loads(pickle.dumps(given)), copy.deepcopy(given), copy.deepcopy(__request__).method]`,
      'import copy, pickle',
    );
    expect((await call(content)).result).toEqual([[[], {}, {}], [[], {}, {}], 'POST']);
  });

  test('include a request that names the server, holds no data of the caller, and names what it lacks', async () => {
    const content = toolOf(
      'def f(self, __request__):\n' +
        '    return [__request__.method, __request__.base_url, __request__.headers, __request__.cookies]\n' +
        'def g(self, __request__): return __request__.app.state',
    );
    const baseUrl = 'https://parley.example.com';
    expect((await call(content, {}, { baseUrl })).result).toEqual(['POST', baseUrl, {}, {}]);
    await expect(call(content, {}, { function: 'g' })).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringContaining('__request__.app.state is not offered'),
    });
  });

  test('include the valves of the tool and of the user', async () => {
    const content = toolOf(
      'class Valves(BaseModel):\n    key: str = "none"\nclass UserValves(BaseModel):\n    tone: str = "dry"\n' +
        'def __init__(self): self.valves = self.Valves()\n' +
        'def f(self, __user__={}): return [self.valves.key, __user__["valves"].tone]',
      'from pydantic import BaseModel',
    );
    expect((await call(content)).result).toEqual(['none', 'dry']);
    const values = { valves: { key: 'k', unknown: 1 }, userValves: { tone: 'warm' } };
    expect((await call(content, {}, values)).result).toEqual(['k', 'warm']);
    await expect(call(content, {}, { valves: { key: [] } })).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringContaining('key'),
    });
  });
});

describe('events', () => {
  const content = toolOf(
    'async def f(self, n: int, __event_emitter__=None):\n    for i in range(n):\n' +
      '        await __event_emitter__({"type": "status", "data": {"i": i}})\n    return "done"',
  );

  test('arrive while the function runs, and again in the answer', async () => {
    const seen: unknown[] = [];
    const { result, events } = await call(
      content,
      { n: 3 },
      { onEvent: (event: unknown) => seen.push(event) },
    );
    expect(result).toBe('done');
    expect(events).toEqual([0, 1, 2].map((i) => ({ type: 'status', data: { i } })));
    expect(seen).toEqual(events);
  });

  test('arrive from a plain function that runs its own event loop', async () => {
    const plain = toolOf(
      'def f(self, __event_emitter__): return asyncio.run(__event_emitter__({"type": "a", "data": None}))',
      'import asyncio',
    );
    expect((await call(plain)).events).toEqual([{ type: 'a', data: null }]);
  });

  test('are limited in number', async () => {
    await expect(call(content, { n: 1001 })).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringContaining('1000 events'),
    });
  });
});

describe('results', () => {
  test.each<[string, unknown]>([
    ['None', null],
    ['"text"', 'text'],
    ['{"a": [1, 2.5, True]}', { a: [1, 2.5, true] }],
    ['datetime.date(2026, 1, 31)', '2026-01-31'],
    ['{3}', [3]],
    ['Point(x=1)', { x: 1 }],
    ['float("nan")', null],
    ['(n for n in range(3))', [0, 1, 2]],
    ['asyncio.sleep(0, "slept")', 'slept'],
  ])('become JSON: %s', async (expression, expected) => {
    const content = toolOf(
      `def f(self): return ${expression}`,
      'import asyncio, datetime\nfrom pydantic import BaseModel\nclass Point(BaseModel):\n  x: int',
    );
    expect((await call(content)).result).toEqual(expected);
  });

  test.each(['object()', 'b"\\xff"', 'lambda: 1', '(lambda a: a.append(a) or a)([])', '"\\ud800"'])(
    '%s has no JSON form',
    async (expression) => {
      await expect(call(toolOf(`def f(self): return ${expression}`))).rejects.toMatchObject({
        code: 'tool_raised',
        message: expect.stringContaining('has no JSON form'),
      });
    },
  );
});

describe('calls', () => {
  test('of plain functions of one tool overlap', async () => {
    const content = toolOf(
      'def f(self, wait: bool):\n    if wait: GATE.wait()\n    else: GATE.set()\n    return GATE.is_set()',
      'import threading\nGATE = threading.Event()',
    );
    const both = await Promise.all([call(content, { wait: true }), call(content, { wait: false })]);
    expect(both.map(({ result }) => result)).toEqual([true, true]);
  });

  test('that come first at the same time share one process and its state', async () => {
    const content = toolOf('def f(self): return [os.getpid(), self]', 'import os').replace(
      ', self]',
      ', id(self)]',
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(content)));
    expect(new Set(answers.map(({ result }) => String(result))).size).toBe(1);
  });

  test('of a tool with other content never run in the process of the old content', async () => {
    expect((await call(toolOf('def f(self): return 1'))).result).toBe(1);
    expect((await call(toolOf('def f(self): return 2'))).result).toBe(2);
    expect((await call(toolOf('def f(self): return 1'))).result).toBe(1);
  });

  test('print to separate outputs', async () => {
    const content = toolOf(
      'def f(self, x: str):\n    print(x)\n    print("!", file=sys.stderr)',
      'import sys',
    );
    const answers = await Promise.all(['a', 'b'].map((x) => call(content, { x })));
    expect(answers.map(({ output }) => output)).toEqual(['a\n!\n', 'b\n!\n']);
  });

  test('remove the files that were fetched for them when they end', async () => {
    const content = toolOf(
      'def f(self):\n    path = FileModel(id="x", user_id="u", filename="a.txt").path\n    return [path, open(path).read()]\n' +
        'def look(self, path: str): return [path.startswith(os.getcwd()), os.path.exists(path)]',
      'import os\nfrom open_webui.models.files import FileModel',
    );
    const onRequest = async (_name: string, input: unknown) =>
      (input as { start: number }).start === 0 ? btoa('Bern') : '';
    const [path, text] = (await call(content, {}, { onRequest })).result as string[];
    expect(text).toBe('Bern');
    expect((await call(content, { path }, { function: 'look' })).result).toEqual([true, false]);
  });

  test('may print characters that cannot be encoded', async () => {
    const printing = 'print("Bern\\udc80")\n    ';
    const content = toolOf(
      `def f(self):\n    ${printing}return 1\ndef g(self):\n    ${printing}raise ValueError("no")`,
    );
    expect(await call(content)).toMatchObject({ result: 1, output: 'Bern?\n' });
    await expect(call(content, {}, { function: 'g' })).rejects.toMatchObject({ code: 'tool_raised' });
  });

  test('that are cancelled reject with the reason of the signal', async () => {
    const controller = new AbortController();
    const content = toolOf(
      'async def f(self, __event_emitter__):\n    await __event_emitter__({})\n    time.sleep(20)',
      'import time',
    );
    const running = call(
      content,
      {},
      {
        signal: controller.signal,
        onEvent: () => controller.abort(new Error('gone')),
      },
    );
    await expect(running).rejects.toThrow('gone');
  });

  test.each<[string, string]>([
    ['raise ValueError("no such city")', 'ValueError: no such city'],
    ['raise KeyError', 'KeyError'],
    ['next(iter([]))', 'StopIteration'],
    ['sys.exit(3)', 'SystemExit: 3'],
    ['raise asyncio.CancelledError()', 'CancelledError'],
    ['return f(self)', 'RecursionError: maximum recursion depth exceeded'],
  ])('fail with the exception: %s', async (statement, message) => {
    for (const prefix of ['def', 'async def']) {
      const content = toolOf(
        `${prefix} f(self):\n    ${statement}`,
        'import asyncio, sys\ndef f(a): return f(a)',
      );
      await expect(call(content)).rejects.toMatchObject({
        code: 'tool_raised',
        message: expect.stringContaining(message),
      });
    }
  });
});

test.each<[string, string, unknown]>([
  ['keeps the packages that were loaded for all tools', 'greeter', [true, '2']],
  ['replaces a loaded package that it has in another version', 'requests', [false, '99']],
])('a set of packages %s', async (_what, name, expected) => {
  const packages = await mkdtemp(join(tmpdir(), 'parley-set-'));
  onTestFinished(() => rm(packages, { recursive: true }));
  await chmod(packages, 0o755);
  await mkdir(join(packages, `${name}-99.dist-info`));
  await mkdir(join(packages, name));
  await writeFile(join(packages, name, '__init__.py'), '__version__ = "99"\n');
  const content = toolOf(
    `LOADED = "requests" in sys.modules\ndef f(self):\n    import requests\n    return [self.LOADED, requests.__version__.split(".")[0]]`,
    'import sys',
  );
  const tool = { id: 'with_packages', content, packages };
  // The fork server loads the packages between its first orders.
  const { result } = await until('the packages for all to be loaded', async () => {
    const found = await callTool(python, content, {}, { tool: { id: 'without', content } });
    if ((found.result as unknown[])[0] === true) return callTool(python, content, {}, { tool });
    python.evict('without');
    return undefined;
  });
  expect(result).toEqual(expected);
});
