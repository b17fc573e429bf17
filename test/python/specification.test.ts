import { afterAll, describe, expect, test } from 'vitest';
import { startTestPython, toolOf } from '../support/python.ts';

const python = await startTestPython();
afterAll(() => python.close());

const inspect = (content: string) => python.inspect({ id: 'tool', content });

async function specOf(methods: string, before = '') {
  const { specs } = await inspect(toolOf(methods, before));
  return specs[0];
}

/** The schema of the parameter `x` of `def f(self, …)`. */
async function schemaOf(parameter: string, before = '') {
  const spec = await specOf(`def f(self, ${parameter}): pass`, before);
  return { schema: spec?.parameters.properties.x, required: spec?.parameters.required };
}

test('matches the published sample', async () => {
  const spec = await specOf(
    `def get_weather(self, city: str, days: int = 3, units: Literal["c", "f"] = "c", tags: list[str] = [],
        note: Optional[str] = None, extra=None, opts: dict = {}, ratio: float = 1.5,
        __user__: dict = {}, __event_emitter__=None):
    """
    Get the weather.
    :param city: City name
    :param days: How many days
    """`,
    'from typing import Literal, Optional',
  );
  expect(spec).toEqual({
    name: 'get_weather',
    description: 'Get the weather.',
    parameters: {
      type: 'object',
      properties: {
        city: { description: 'City name', type: 'string' },
        days: { default: 3, description: 'How many days', type: 'integer' },
        units: { default: 'c', enum: ['c', 'f'], type: 'string' },
        tags: { default: [], items: { type: 'string' }, type: 'array' },
        note: { type: 'string' },
        extra: { type: 'string' },
        opts: { additionalProperties: true, default: {}, type: 'object' },
        ratio: { default: 1.5, type: 'number' },
      },
      required: ['city'],
    },
  });
});

const PLACE = 'from pydantic import BaseModel\nclass Place(BaseModel):\n  name: str\n  floor: int = 0\n';
const ENUM = 'from enum import Enum\nclass Unit(str, Enum):\n  c = "c"\n  f = "f"\n';

describe('a type has its schema:', () => {
  test.each<[string, string, unknown, boolean]>([
    ['x', '', { type: 'string' }, true],
    ['x: bool', '', { type: 'boolean' }, true],
    ['x: bool = False', '', { type: 'boolean', default: false }, false],
    ['x: "int"', '', { type: 'integer' }, true],
    ['x: Optional[int]', 'from typing import Optional', { type: 'integer' }, true],
    ['x: int | None = None', '', { type: 'integer' }, false],
    ['x: str = None', '', { type: 'string' }, false],
    ['x: date', 'from datetime import date', { type: 'string', format: 'date' }, true],
    ['x: Unit = Unit.c', ENUM, { type: 'string', enum: ['c', 'f'], default: 'c' }, false],
    ['x: Literal[1, "x", None] = None', 'from typing import Literal', { enum: [1, 'x'] }, false],
    [
      'x: Literal["a", "b", None] = None',
      'from typing import Literal',
      { type: 'string', enum: ['a', 'b'] },
      false,
    ],
    [
      'x: Node',
      'from pydantic import BaseModel\nclass Node(BaseModel):\n  next: "Node | None" = None',
      { type: 'object', properties: { next: { type: 'object' } } },
      true,
    ],
    [
      'x: Point',
      'from typing import TypedDict\nclass Point(TypedDict):\n  y: int',
      {
        type: 'object',
        properties: { y: { type: 'integer' } },
        required: ['y'],
        additionalProperties: false,
      },
      true,
    ],
    [
      'x: Value',
      'from typing import Dict, List, Union\nfrom typing_extensions import TypeAliasType\n' +
        'Value = TypeAliasType("Value", "Union[List[Value], Dict[str, Value], int, None]")',
      {
        anyOf: [
          { type: 'array', items: { anyOf: [{ type: 'array' }, { type: 'object' }, { type: 'integer' }] } },
          {
            type: 'object',
            additionalProperties: { anyOf: [{ type: 'array' }, { type: 'object' }, { type: 'integer' }] },
          },
          { type: 'integer' },
        ],
      },
      true,
    ],
    ['x: Literal["a"]', 'from typing import Literal', { type: 'string', const: 'a' }, true],
    [
      'x: Union[int, str]',
      'from typing import Union',
      { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      true,
    ],
    ['x: dict[str, int]', '', { type: 'object', additionalProperties: { type: 'integer' } }, true],
    ['x: list', '', { type: 'array', items: { type: 'string' } }, true],
    ['x: set[int]', '', { type: 'array', items: { type: 'integer' }, uniqueItems: true }, true],
    [
      'x: tuple[int, str]',
      '',
      {
        type: 'array',
        prefixItems: [{ type: 'integer' }, { type: 'string' }],
        minItems: 2,
        maxItems: 2,
      },
      true,
    ],
    [
      'x: list[Place]',
      PLACE,
      {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, floor: { type: 'integer', default: 0 } },
          required: ['name'],
        },
      },
      true,
    ],
    [
      'x: int = Field(5, ge=1, description="How many")',
      'from pydantic import Field',
      { type: 'integer', default: 5, minimum: 1, description: 'How many' },
      false,
    ],
    [
      'x: Annotated[str, Field(max_length=9)]',
      'from typing import Annotated\nfrom pydantic import Field',
      { type: 'string', maxLength: 9 },
      true,
    ],
  ])('%s', async (parameter, before, expected, isRequired) => {
    const { schema, required } = await schemaOf(parameter, before);
    expect(schema).toEqual(expected);
    expect(required).toEqual(isRequired ? ['x'] : undefined);
  });
});

test('a parameter may have the name of a model method', async () => {
  const spec = await specOf(
    'def f(self, json: str, copy: int = 1, schema: str = "", model_x: str = ""): pass',
  );
  expect(Object.keys(spec?.parameters.properties ?? {})).toEqual(['json', 'copy', 'schema', 'model_x']);
});

test('lists functions in alphabetical order, inherited, async and decorated ones too, without private ones and classes', async () => {
  const { specs } = await inspect(`
import functools
def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2
    return wrapper
class Base:
    def inherited(self, a: int): "From the base."
class Tools(Base):
    class Inner: pass
    answer = 42
    def zebra(self, *args, **kwargs): pass
    async def later(self, a: str): pass
    @twice
    def decorated(self, b: int) -> int:
        "Twice."
        return b
    @staticmethod
    def fixed(c: int = 1): pass
    @property
    def broken(self): raise RuntimeError("not to be read")
    def _private(self): pass
    def __hidden(self): pass
`);
  expect(specs.map(({ name }) => name)).toEqual(['decorated', 'fixed', 'inherited', 'later', 'zebra']);
  expect(specs[0]).toEqual({
    name: 'decorated',
    description: 'Twice.',
    parameters: { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
  });
  expect(specs[4]).toEqual({
    name: 'zebra',
    description: '',
    parameters: { type: 'object', properties: {} },
  });
});

test('reads every line of a docstring field, and the result', async () => {
  const spec = await specOf(`def f(self, x: int, y: int):
    """Adds two numbers
       and tells.

    :param x: The first,
        which may be negative
    :param int y: The second
    :return: The sum,
        as a number
    :raises ValueError: never
    """`);
  expect(spec?.description).toBe('Adds two numbers\nand tells.');
  expect(spec?.returns).toBe('The sum,\nas a number');
  expect(spec?.parameters.properties).toEqual({
    x: { type: 'integer', description: 'The first,\nwhich may be negative' },
    y: { type: 'integer', description: 'The second' },
  });
});

test('leaves malformed docstring fields out of the description', async () => {
  const spec = await specOf(`def f(self, x: int, y: int):
    """Adds.
    :params x: The first
    :param y The second,
        without a colon
    :returns a number
    """`);
  expect(spec).toMatchObject({ name: 'f', description: 'Adds.' });
  expect(spec).not.toHaveProperty('returns');
  expect(spec?.parameters.properties).toEqual({
    x: { type: 'integer', description: 'The first' },
    y: { type: 'integer' },
  });
});

test('describes valves by the plain JSON schemas of their models', async () => {
  const { valves, user_valves } = await inspect(`
from typing import Optional
from pydantic import BaseModel, Field
class Tools:
    class Valves(BaseModel):
        """Settings."""
        api_key: str = Field(description="The key", json_schema_extra={"input": {"type": "password"}})
        retries: Optional[int] = Field(default=None, ge=0)
`);
  expect(valves).toEqual({
    title: 'Valves',
    type: 'object',
    description: 'Settings.',
    properties: {
      api_key: { title: 'Api Key', type: 'string', description: 'The key', input: { type: 'password' } },
      retries: {
        title: 'Retries',
        default: null,
        anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
      },
    },
    required: ['api_key'],
  });
  expect(user_valves).toBeNull();
});

describe('names the reason why a source cannot be loaded:', () => {
  test.each<[string, string, RegExp]>([
    ['a syntax error', 'class Tools:\n    def f(self:\n        pass', /^Syntax error in line 2: /],
    ['no class Tools', 'class Tool: pass', /^The source defines no class Tools\.$/],
    ['Tools that is not a class', 'Tools = 1', /^The source defines no class Tools\.$/],
    ['a failing import', 'import os\nimport nowhere_at_all', /import in line 2 needs nowhere_at_all/],
    [
      'a failing constructor',
      toolOf('def __init__(self):\n    raise ValueError("no key")'),
      /in line 4: ValueError: no key/,
    ],
    ['a constructor with required arguments', toolOf('def __init__(self, key): pass'), /TypeError/],
    ['sys.exit', 'import sys\nsys.exit(3)', /in line 2: SystemExit: 3/],
    ['os._exit', 'import os\nos._exit(3)', /ended its process while it was loading: exit status 3/],
    [
      'a type without JSON form',
      toolOf('def f(self, a: int, x: Thing): pass', 'class Thing: pass'),
      /parameter x of function f/,
    ],
    ['an unknown type', toolOf('def f(self, x: "Nothing"): pass'), /parameter x of function f .*Nothing/],
    ['a null byte', 'class Tools:\n  pass\n\0', /cannot be read|Syntax error/],
  ])('%s', async (_, content, message) => {
    await expect(inspect(content)).rejects.toMatchObject({
      code: 'tool_invalid',
      message: expect.stringMatching(message),
    });
  });

  test('ignores the hints of hidden parameters', async () => {
    const spec = await specOf('def f(self, x: int, __request__: "Request" = None): pass');
    expect(spec?.parameters.properties).toEqual({ x: { type: 'integer' } });
  });
});
