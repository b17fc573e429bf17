import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSocket, openWorkshop, type Workshop } from './workshop.ts';

const SOURCE = `import functools, os, sys, threading
from dataclasses import dataclass
from typing import Annotated, List, Union
from pydantic import BaseModel, BeforeValidator, Field, field_validator
GATES = {"type": threading.Event(), "generator": threading.Event()}
class Place(BaseModel):
    name: str
    @field_validator("name")
    @classmethod
    def look(cls, name):
        if name == "raise": raise KeyError("no such place")
        if name == "leave": sys.exit("gone")
        if name == "half": raise ValueError("\\ud800")
        if name == "wait": GATES["type"].wait(60)
        return name
@dataclass
class Sum:
    value: int
    def __post_init__(self): 1 / self.value
def of_key(value): return value["k"]
class Settings(BaseModel):
    key: str = "none"
class Tools:
    __slots__ = ("__dict__", "not_set_yet")
    def __init__(self):
        self.Valves = Settings
        self.valves = Settings()
    @functools.cached_property
    def client(self): raise RuntimeError(f"no client with the key {self.valves.key}")
    def find(self, place: Place): return place.name
    async def find_async(self, place: Place): return place.name
    Number = Union[int, float]
    Few = Annotated[List[int], Field(max_length=3)]
    def add(self, one: Sum): return one.value
    def plain(self, x: Annotated[int, BeforeValidator(of_key)]): return x
    def given(self, x: Annotated[list, Field(default_factory=lambda: [1])]): return x
    def ordered(self, a: int, __user__: dict, b: int = 2, __id__: str = "", /, c: int = 3): return [a, __user__["name"], b, __id__, c]
    def numbers(self, n: int):
        for i in range(n): yield i
        if n == 0: raise ValueError("none at all")
    async def numbers_async(self, n: int):
        for i in range(n): yield i
        if n == 0: raise ValueError("none at all")
    def slowly(self):
        yield GATES["generator"].wait(60)
    def open(self, gate: str): GATES[gate].set()
    def folder(self): return [os.path.dirname(__file__) == os.getcwd(), os.path.basename(__file__)]
    def setting(self): return self.valves.key
    def wide(self): return [{f"m{row}_{column}": row for column in range(100)} for row in range(1000)]
`;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop({ callTimeoutMs: 20_000 });
  expect((await shop.create('odd', SOURCE)).status).toBe(200);
});
afterAll(() => shop.close());

const run = (name: string, args: object = {}, person = shop.reader) =>
  shop.as(person, 'POST', 'odd/call', { function: name, arguments: args });

describe('a parameter type that runs code of its own', () => {
  it.each([
    ['find', { place: { name: 'raise' } }, "KeyError: 'no such place'"],
    ['find_async', { place: { name: 'raise' } }, "KeyError: 'no such place'"],
    ['find', { place: { name: 'leave' } }, 'The tool tried to end its process: SystemExit: gone'],
    ['find_async', { place: { name: 'leave' } }, 'The tool tried to end its process: SystemExit: gone'],
    ['find', { place: { name: 'half' } }, expect.stringMatching(/^UnicodeEncodeError: /)],
    ['add', { one: { value: 0 } }, 'ZeroDivisionError: division by zero'],
    ['plain', { x: {} }, "KeyError: 'k'"],
  ])(
    'an error that it raises fails the call like an error of the function: %s(%j)',
    async (name, args, detail) => {
      const { status, body } = await run(name, args);
      expect([status, body.code, body.detail]).toEqual([422, 'tool_raised', detail]);
    },
  );

  it('does not block other calls', async () => {
    const [found] = await Promise.all([
      run('find', { place: { name: 'wait' } }),
      run('open', { gate: 'type' }, shop.author),
    ]);
    expect([found.status, found.body.result]).toEqual([200, 'wait']);
  });
});

describe('parameters', () => {
  it('have the default that only their type declares', async () => {
    expect((await run('given')).body.result).toEqual([1]);
    expect((await run('given', { x: [] })).body.result).toEqual([]);
  });

  it('that are positional-only are filled in order, hidden parameters included', async () => {
    expect((await run('ordered', { a: 1 })).body.result).toEqual([1, 'Reader', 2, 'odd', 3]);
    expect((await run('ordered', { a: 1, b: 5, c: 6 })).body.result).toEqual([1, 'Reader', 5, 'odd', 6]);
  });
});

describe('a generator', () => {
  it.each(['numbers', 'numbers_async'])(
    '%s returns a list, and its errors are errors of the tool',
    async (name) => {
      expect((await run(name, { n: 3 })).body.result).toEqual([0, 1, 2]);
      const { status, body } = await run(name, { n: 0 });
      expect([status, body.detail]).toEqual([422, 'ValueError: none at all']);
    },
  );

  it('does not block other calls', async () => {
    const [slow] = await Promise.all([run('slowly'), run('open', { gate: 'generator' }, shop.author)]);
    expect([slow.status, slow.body.result]).toEqual([200, [true]]);
  });
});

describe('a result of a hundred thousand members', () => {
  const FIRST = '[{"m0_0":0,"m0_1":0,';
  /**
   * Calls the function and counts how often a text of the size of its result is parsed before the response
   * arrives.
   */
  async function callAt(path: string, body: object) {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const response = await fetch(`${shop.server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.reader.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const parsed = parse.mock.calls.filter(([given]) => given.length > 100_000);
    parse.mockRestore();
    return { status: response.status, text, parsed: parsed.length };
  }
  const call = { id: 'odd', function: 'wide' };

  it('reaches a caller of REST without being parsed', async () => {
    const { status, text, parsed } = await callAt('/api/v1/tools/id/odd/call', call);
    expect([status, parsed]).toEqual([200, 0]);
    expect(text.startsWith(`{"result":${FIRST}`)).toBe(true);
    expect(Object.keys(JSON.parse(text))).toEqual(['result', 'events', 'duration_ms']);
  });

  it('is not parsed in a tRPC batch, and keeps its position in the batch', async () => {
    const batch = { 0: call, 1: { ...call, function: 'given' }, 2: call };
    const names = 'tools.invoke,tools.invoke,tools.invoke';
    const { status, text, parsed } = await callAt(`/trpc/${names}?batch=1`, batch);
    expect([status, parsed]).toEqual([200, 0]);
    const results = JSON.parse(text).map(
      (one: { result: { data: { result: unknown[] } } }) => one.result.data,
    );
    expect(results.map(({ result }: { result: unknown[] }) => result.length)).toEqual([1000, 1, 1000]);
  });

  it('is not parsed for a watched run', async () => {
    const { client, sockets } = openSocket(shop.server.url, shop.reader.token);
    onTestFinished(() => sockets.close());
    const items: unknown[] = [];
    const done = Promise.withResolvers<void>();
    client.tools.run.subscribe(
      { ...call, arguments: {} },
      { onData: ({ data }) => items.push(data), onComplete: done.resolve, onError: done.reject },
    );
    await done.promise;
    expect(items).toMatchObject([{ type: 'started' }, { type: 'result', result: { length: 1000 } }]);
  });
});

describe('a tool', () => {
  it('may have types of its own, cached properties and slots without a value', async () => {
    const { body } = await shop.as(shop.reader, 'GET', 'odd');
    expect(body.specs.map((spec: { name: string }) => spec.name)).toEqual([
      'add',
      'find',
      'find_async',
      'folder',
      'given',
      'numbers',
      'numbers_async',
      'open',
      'ordered',
      'plain',
      'setting',
      'slowly',
      'wide',
    ]);
  });

  const HOST = [
    'tool',
    'session',
    'server',
    'reach',
    'fork_server',
    'walls',
    'loading',
    'specs',
    'calls',
    'unoffered',
  ];

  it.each(HOST)('cannot import %s, a module of the host', async (name) => {
    const { status, body } = await shop.create(
      'nosy',
      `import ${name}\nclass Tools:\n    def f(self): pass\n`,
    );
    const refusal = `The import in line 1 needs ${name}, which is not here; name its package in the requirements of the frontmatter.`;
    expect([status, body.detail]).toEqual([400, expect.stringContaining(refusal)]);
  });

  it('finds its own source file in its folder', async () => {
    expect((await run('folder')).body.result).toEqual([true, 'tool.py']);
  });

  it('may refer to the class of its valves in its constructor', async () => {
    const { status, body } = await shop.as(shop.author, 'POST', 'odd/valves/update', { key: 'k' });
    expect([status, body]).toEqual([200, { key: 'k' }]);
    expect((await run('setting')).body.result).toBe('k');
  });

  it('whose class rejects the stored valves fails with that reason, and quotes no value', async () => {
    const source = (checks: string) => `from pydantic import BaseModel, model_validator
class Tools:
    class Valves(BaseModel):
        key: str = ""
        @model_validator(mode="after")
        def check(self):
            ${checks}
            return self
    def __init__(self): self.valves = self.Valves()
    def f(self): return 1
`;
    const content = source('if self.key: raise LookupError(self.key)');
    await shop.create('strict', source('pass'));
    await shop.as(shop.author, 'POST', 'strict/valves/update', { key: 'k1' });
    await shop.as(shop.author, 'POST', 'strict/update', { name: 'strict', meta: {}, content });
    const { status, body } = await shop.as(shop.reader, 'POST', 'strict/call', { function: 'f' });
    expect([status, body.detail]).toEqual([
      422,
      'The valves of the tool are not valid: their class failed with LookupError.',
    ]);
    expect((await shop.as(shop.author, 'POST', 'strict/valves/update', { key: null })).status).toBe(200);
    expect((await shop.as(shop.reader, 'POST', 'strict/call', { function: 'f' })).body.result).toBe(1);
  });
});

describe('POST /utils/code/format', () => {
  const format = (code: string, person: { token: string } | null = shop.reader) =>
    shop.server.call('POST /utils/code/format', { token: person?.token, body: { code } });

  it('requires a member', async () => {
    expect((await format('x=1', null)).status).toBe(401);
  });

  it('returns the code as Black formats it; formatted code stays the same', async () => {
    expect(await format("x = {  'a':1 }")).toMatchObject({ status: 200, body: { code: 'x = {"a": 1}\n' } });
    expect((await format('x = {"a": 1}\n')).body).toEqual({ code: 'x = {"a": 1}\n' });
  });

  it('names the line that is not valid Python', async () => {
    expect(await format('x = 1\ny = = 2\n')).toMatchObject({
      status: 400,
      body: {
        code: 'bad_request',
        detail: 'The code is not valid Python: line 2: invalid syntax.',
        issues: [{ path: 'code', message: 'line 2: invalid syntax' }],
      },
    });
    expect((await format('x = "\0"')).status).toBe(400);
  });
});
