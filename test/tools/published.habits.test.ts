import { afterAll, describe, expect, it } from 'vitest';
import { needs } from '../python/hostile.ts';
import { runTool, toolOf } from './published.ts';
import { openWorkshop } from './workshop.ts';

/* Undocumented habits of published tools, and the errors that callers get when a habit does not work here. */

const shop = await openWorkshop();
afterAll(() => shop.close());

async function answerOf(body: string, imports = '', head?: string) {
  const { status, body: answer } = await runTool(shop, toolOf(imports, body, head));
  return { status, detail: answer.detail, result: answer.result, events: answer.events };
}

describe('works:', () => {
  it('emitting an event without awaiting it', async () => {
    const status = (text: string) =>
      `__event_emitter__({"type": "status", "data": {"description": "${text}"}})`;
    const body = `asyncio.create_task(${status('a')})\nasync def tell(): await ${status('b')}\nasyncio.ensure_future(tell())\nreturn 1`;
    const { result, events } = await answerOf(body, 'import asyncio');
    expect([
      result,
      events.map(({ data }: { data: { description: string } }) => data.description).toSorted(),
    ]).toEqual([1, ['a', 'b']]);
  });

  it('keeping a SQLite connection in the instance, without listing its methods as functions', async () => {
    const source =
      'import sqlite3\nclass Tools:\n    def __init__(self):\n        self.db = sqlite3.connect(":memory:", check_same_thread=False)\n        self.greet = "Hi {}".format\n    def f(self):\n        return [*self.db.execute("select 7").fetchone(), self.greet(1)]\n';
    const created = await shop.create('keeps_database', source);
    expect([created.status, created.body.specs]).toEqual([200, [expect.objectContaining({ name: 'f' })]]);
    const { body } = await shop.as(shop.reader, 'POST', 'keeps_database/call', { function: 'f' });
    expect(body.result).toEqual([7, 'Hi 1']);
  });

  it('returning numbers and arrays of NumPy', async () => {
    const numbers =
      'class Number:\n    def tolist(self): return 3\nclass Array:\n    def tolist(self): return [1.5, [2]]';
    const { result } = await answerOf('return {"n": Number(), "rows": [Array()]}', numbers);
    expect(result).toEqual({ n: 3, rows: [[1.5, [2]]] });
    const { status, detail } = await answerOf('return {"n": Number}', numbers);
    expect([status, detail]).toEqual([
      422,
      expect.stringMatching(/^The result \(dict\) has no JSON form: TypeError: unknown type <class '\S+'>$/),
    ]);
  });

  it('reading its own source from `__file__`', async () => {
    const body =
      'own = open(__file__, encoding="utf-8").read()\nreturn [own.count("# ünder\\n"), os.path.dirname(__file__) == os.getcwd()]';
    const { detail, result } = await answerOf(body, 'import os\n# ünder');
    expect([detail, result]).toEqual([undefined, [1, true]]);
  });

  it('quoting its own source in tracebacks, warnings and inspect', async () => {
    const body = `try: raise ValueError("here")  # a mark
except ValueError: quoted = traceback.format_exc()
import sys
line = linecache.getline(sys._getframe().f_code.co_filename, sys._getframe().f_lineno)
return ["# a mark" in quoted, "getframe" in line, "# a mark" in inspect.getsource(Tools), "# a mark" in inspect.getsource(Tools.f)]`;
    const { detail, result } = await answerOf(body, 'import inspect, linecache, traceback');
    expect([detail, result]).toEqual([undefined, [true, true, true, true]]);
  });
});

describe('a plain class Valves', () => {
  const plain = (inside: string, outside = 'self.valves = self.Valves()') =>
    `from pydantic import Field\nclass Tools:\n    class Valves:\n${inside.replaceAll(/^/gm, '        ')}\n    def __init__(self):\n        ${outside}\n    def f(self, __user__: dict):\n        return [[self.valves.key, self.valves.count] if hasattr(self, "valves") else None, type(self.valves).__name__ if hasattr(self, "valves") else None]\n`;

  it('has no settings when it is empty', async () => {
    expect((await shop.create('plain_none', plain('pass', 'pass'))).status).toBe(200);
    expect((await shop.as(shop.author, 'GET', 'plain_none/valves/spec')).body).toBeNull();
    const { body } = await shop.as(shop.reader, 'POST', 'plain_none/call', { function: 'f' });
    expect(body.result).toEqual([null, null]);
  });

  it.each([
    [
      'of attributes',
      'key: str = ""\ncount: int = Field(default=3, ge=1)\nhook: callable = print\nbare: str',
    ],
    [
      'that its constructor sets',
      'def __init__(self, **more):\n    self.key: str = ""\n    self.count = 3\n    self.hook = print\n    self._own = 1',
    ],
  ])('declares the settings of the tool: %s', async (kind, inside) => {
    const id = `plain_${kind.replaceAll(' ', '_')}`;
    expect((await shop.create(id, plain(inside))).body.detail).toBeUndefined();
    const { body: spec } = await shop.as(shop.author, 'GET', `${id}/valves/spec`);
    expect(Object.keys(spec.properties).sort()).toEqual(['count', 'key']);
    const set = await shop.as(shop.author, 'POST', `${id}/valves/update`, { key: 'k', count: '7' });
    expect(set.body).toEqual({ key: 'k', count: 7 });
    const { body } = await shop.as(shop.reader, 'POST', `${id}/call`, { function: 'f' });
    expect(body.result).toEqual([['k', 7], 'Valves']);
    const wrong = await shop.as(shop.author, 'POST', `${id}/valves/update`, { count: 'many' });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'valves_invalid']);
  });

  it('of a user reaches the function as an object of the class', async () => {
    const source =
      'class Tools:\n    class UserValves:\n        word: str = "hi"\n        def loud(self): return self.word.upper()\n    def f(self, __user__: dict): return __user__["valves"].loud()\n';
    await shop.create('plain_user', source);
    const call = async () =>
      (await shop.as(shop.reader, 'POST', 'plain_user/call', { function: 'f' })).body.result;
    expect(await call()).toBe('HI');
    await shop.as(shop.reader, 'POST', 'plain_user/valves/user/update', { word: 'ho' });
    expect(await call()).toBe('HO');
  });
});

describe('fails with a helpful text:', () => {
  it.for<[string, string, RegExp]>([
    [
      'starts Python',
      'return subprocess.run([sys.executable, "-m", "pip", "install", "six"]).returncode',
      /'.*python.*' \(a tool cannot start the server's Python; name packages in the requirements of the frontmatter\)$/,
    ],
    [
      'writes elsewhere',
      'return open("/usr/share/x", "w")',
      /'\/usr\/share\/x' \(a tool writes in its working folder only, and reads that and the system's libraries\)$/,
    ],
    [
      'shares locks',
      'return multiprocessing.Lock()',
      / \(a tool takes no port, and has no Unix sockets, shared memory or locks between processes\)$/,
    ],
  ])('a tool that %s', async ([, body, words], context) => {
    needs(context, !/Landlock/.test(shop.python.state().detail), 'a kernel with Landlock');
    const { status, detail } = await answerOf(body, 'import multiprocessing, subprocess, sys');
    expect([status, detail]).toEqual([422, expect.stringMatching(/^PermissionError: \[Errno \d+\] /)]);
    expect(detail).toMatch(words);
  });

  it.each([
    ['asyncio.create_task(tell())', 'no running event loop'],
    ['asyncio.get_running_loop()', 'no running event loop'],
  ])('a plain method that calls %s', async (what, words) => {
    const body = `async def tell(): pass\nreturn str(${what})`;
    const { detail } = await answerOf(body, 'import asyncio', 'def f(self)');
    expect(detail).toBe(
      `RuntimeError: ${words} (plain methods run in threads: write \`async def\`, or use asyncio.run)`,
    );
  });

  it('an event larger than the limit for all events of a call', async () => {
    const { detail } = await answerOf(
      'await __event_emitter__({"type": "message", "data": {"content": "x" * 2**21}})',
    );
    expect(detail).toMatch(
      /^RuntimeError: a call may emit .* in all; store larger things with upload_file_handler/,
    );
  });

  it('a PermissionError that the tool raises stays unchanged', async () => {
    expect((await answerOf('raise PermissionError("not you")')).detail).toBe('PermissionError: not you');
  });

  it('values that do not fit a model of the tool, each in one sentence', async () => {
    const model =
      'from pydantic import BaseModel, model_validator\nclass Trip(BaseModel):\n    town: str\n    days: list[int]\n    @model_validator(mode="after")\n    def check(self):\n        raise ValueError("too far")';
    const { detail } = await answerOf('return Trip(days=[1, "x"])', model);
    expect(detail).toBe(
      'ValidationError: Trip: town: Field required; days.1: Input should be a valid integer, unable to parse string as an integer',
    );
    expect((await answerOf('return Trip(town="x", days=[])', model)).detail).toBe(
      'ValidationError: Trip: Value error, too far',
    );
  });

  const NEEDS =
    'from pydantic import BaseModel\nclass Tools:\n    class Valves(BaseModel):\n        key: str\n    class UserValves(BaseModel):\n        town: str\n    def f(self, __user__): return [self.valves.key, __user__["valves"].town]\n    def g(self): return "needs none"\n';
  it('required settings that are not set', async () => {
    await shop.create('needs_settings', NEEDS);
    const call = async (name = 'f') =>
      (await shop.as(shop.reader, 'POST', 'needs_settings/call', { function: name })).body;
    expect((await call()).detail).toBe('Your settings of this tool lack town.');
    await shop.as(shop.reader, 'POST', 'needs_settings/valves/user/update', { town: 'Bern' });
    expect((await call()).detail).toBe('AttributeError: The valves of the tool lack key.');
    expect((await call('g')).result).toBe('needs none');
    await shop.as(shop.author, 'POST', 'needs_settings/valves/update', { key: 'k' });
    expect((await call()).result).toEqual(['k', 'Bern']);
  });

  it('required settings that the constructor reads', async () => {
    const init = '    def __init__(self): self.valves = self.Valves()\n';
    const { status, body } = await shop.create('needs_at_start', NEEDS + init);
    expect([status, body.detail]).toEqual([
      400,
      'The tool failed to load in line 9: ValidationError: Valves: key: Field required',
    ]);
  });
});
