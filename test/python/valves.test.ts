import { afterAll, describe, expect, test } from 'vitest';
import { ANN, callTool, startTestPython, toolOf } from '../support/python.ts';

// The limit for the check that hangs; loading and all other checks must fit into it too.
const python = await startTestPython({ loadTimeoutMs: 5_000 });
afterAll(() => python.close());

const BEFORE = `import time
from typing import Optional, Literal
from pydantic import BaseModel, Field, SecretStr, AliasChoices, field_validator
from pydantic_core import PydanticCustomError
class Server(BaseModel):
    url: str
    token: Optional[SecretStr] = None`;

const CLASSES = `class Valves(BaseModel):
    key: str = ""
    count: int = Field(default=3, ge=0)
    mode: Literal["a", "b"] = "a"
    secret: SecretStr = SecretStr("")
    servers: list[Server] = []
    renamed: str = Field(default="", alias="old_name")
    either: str = Field(default="", validation_alias=AliasChoices("one", "two"))
    @field_validator("key")
    @classmethod
    def no_space(cls, value):
        if value == "hang":
            time.sleep(60)
        if value == "leave": raise SystemExit(1)
        if value.startswith("odd"): raise PydanticCustomError("odd_key", "odd: {key}", {"key": value})
        if " " in value: raise ValueError(f"no spaces in {value}")
        return value.strip()
class UserValves(BaseModel):
    model_config = {"extra": "allow"}
    tone: str = "dry"
def f(self): return 1`;

const tool = { id: 'tool', content: toolOf(CLASSES, BEFORE) };
const check = (values: Record<string, unknown>, which: 'valves' | 'user_valves' = 'valves') =>
  python.checkValves({ tool, which, values });

describe('values of valves', () => {
  test.each([
    ['converted without loss', { key: 'k', count: '7' }, { key: 'k', count: 7 }],
    ['secrets in clear text, to be used again', { secret: 's3cret' }, { secret: 's3cret' }],
    [
      'nested, with the sent members only',
      { servers: [{ url: 'u', token: 't' }, { url: 'v' }] },
      { servers: [{ url: 'u', token: 't' }, { url: 'v' }] },
    ],
    ['under the aliases that were sent', { old_name: 'x', two: 'y' }, { old_name: 'x', two: 'y' }],
    ['no values', {}, {}],
  ])('are checked: %s', async (_what, values, kept) => {
    expect(await check(values)).toEqual({ values: kept, ignored: [] });
  });

  test('that the class does not know are ignored and named, unless the class allows them', async () => {
    expect(await check({ key: 'k', kye: 'x', renamed: 'y' })).toEqual({
      values: { key: 'k' },
      ignored: ['kye', 'renamed'],
    });
    expect(await check({ tone: 'warm', mood: 1 }, 'user_valves')).toEqual({
      values: { tone: 'warm', mood: 1 },
      ignored: [],
    });
  });

  test.each([
    [{ count: -1 }, 'count'],
    [{ count: 'several-s3cret' }, 'count'],
    [{ mode: 's3cret' }, 'mode'],
    [{ key: 'a s3cret' }, 'key'],
    [{ key: 'odd-s3cret' }, 'key'],
    [{ servers: [{ token: 's3cret' }] }, 'servers.0.url'],
  ])('%j are refused by path, and never quoted', async (values, path) => {
    const error = await check(values).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'valves_invalid', issues: [{ path }] });
    expect(JSON.stringify([error.message, error.issues])).not.toContain('s3cret');
  });

  test('whose check hangs or ends its process fail, and the next check works', async () => {
    await expect(check({ key: 'hang' })).rejects.toMatchObject({ code: 'tool_timeout' });
    await expect(check({ key: 'leave' })).rejects.toMatchObject({ code: 'tool_raised' });
    expect((await check({ key: 'k' })).values).toEqual({ key: 'k' });
  });
});

test.each<[string, string, Record<string, unknown>]>([
  [
    'the class rejects the converted values',
    'count: int = 1\n@field_validator("count", mode="before")\n@classmethod\ndef trim(cls, v): return v.strip()',
    { count: ' 4 ' },
  ],
  [
    'the class rejects another value because of a converted one',
    `url: str = ""
key: str = ""
@field_validator("url")
@classmethod
def under(cls, v): return f"{v}/v1"
@field_validator("key")
@classmethod
def fits(cls, v, info):
    if info.data["url"] != "https://a.example/v1": raise ValueError("of another server")
    return v`,
    { url: 'https://a.example', key: 'k' },
  ],
  [
    'the converted values cannot be compared',
    'rows: Any = None\n@field_validator("rows")\n@classmethod\ndef table(cls, v): return Table(v)',
    { rows: [1] },
  ],
])('valves are stored as they were sent when %s', async (_where, fields, values) => {
  const before = `from typing import Any
from pydantic import BaseModel, field_validator
class Table(list):
    def __ne__(self, other): raise ValueError("ambiguous")`;
  const content = toolOf(
    `class Valves(BaseModel):\n${fields.replaceAll(/^/gm, '    ')}\ndef f(self): return self.valves.model_dump()`,
    before,
  );
  const kept = await python.checkValves({ tool: { id: 'kept', content }, which: 'valves', values });
  expect(kept).toEqual({ values, ignored: [] });
  await callTool(python, content, {}, { valves: values });
});

describe('the specification of valves', () => {
  test('carries the choices of a method, and stays unchanged when the method fails', async () => {
    const hint = (options: string) =>
      `Field(default="", json_schema_extra={"input": {"type": "select", "options": "${options}"}})`;
    const content = toolOf(
      `class Valves(BaseModel):
    mine: str = ${hint('mine_of')}
    later: str = ${hint('later_of')}
    broken: str = ${hint('raises')}
    absent: str = ${hint('nowhere')}
    no_list: str = ${hint('no_list_of')}
    @classmethod
    def mine_of(cls, __user__=None): return [__user__["name"], {"value": "x", "label": "X"}]
    @staticmethod
    async def later_of(): return ["later"]
    @classmethod
    def raises(cls): raise RuntimeError("no")
    @classmethod
    def no_list_of(cls): return {"a": 1}
def f(self): return 1`,
      BEFORE,
    );
    const schema = await python.describeValves({ tool: { id: 'o', content }, which: 'valves', user: ANN });
    const options = Object.entries(schema.properties as Record<string, { input: { options: unknown } }>).map(
      ([name, { input }]) => [name, input.options],
    );
    expect(Object.fromEntries(options)).toEqual({
      mine: ['Ann', { value: 'x', label: 'X' }],
      later: ['later'],
      broken: 'raises',
      absent: 'nowhere',
      no_list: 'no_list_of',
    });
  });
});

describe('a change of valves by a function', () => {
  const content = toolOf(
    `class Valves(BaseModel):
    words: list[str] = []
    limit: int = 1
def __init__(self): self.valves = self.Valves(words=["made"])
def f(self):
    self.valves.words.append("changed")
    self.valves.limit += 1
    return [self.valves.words, self.valves.limit]`,
    'from pydantic import BaseModel',
  );

  test.each([
    ['valves that the constructor made', undefined, [['made', 'changed'], 2]],
    ['valves that were set', { words: ['set'], limit: 5 }, [['set', 'changed'], 6]],
  ])('does not reach the next caller: %s', async (_which, valves, expected) => {
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await callTool(python, content, {}, { valves })).result).toEqual(expected);
    }
  });

  test('stays when a value cannot be copied', async () => {
    const lone = toolOf(
      `class Valves(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    gate: Any = None
def __init__(self): self.valves = self.Valves(gate=threading.Lock())
def f(self): return self.valves.gate.acquire(blocking=False)`,
      'import threading\nfrom typing import Any\nfrom pydantic import BaseModel',
    );
    expect((await callTool(python, lone)).result).toBe(true);
    expect((await callTool(python, lone)).result).toBe(false);
  });
});
