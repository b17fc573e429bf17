import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWorkshop, type Workshop } from './workshop.ts';

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const BEFORE = `import io, json, re
from typing import *
from enum import Enum
from fastapi import Request
from pydantic import BaseModel, Field
class Thing: pass
class Holder(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    thing: Thing
class Odd(Enum):
    a = object()
`;

it.each([
  'x: Callable[[int], int]',
  'x: "Nothing"',
  'x: "List[Nothing]" = []',
  'x: type',
  'x: Iterator[int]',
  'x: Thing',
  'x: Thing = None',
  'x: list[Thing]',
  'x: Union[int, Thing]',
  'x: dict[str, Thing] = {}',
  'x: Holder',
  'x: Odd',
  'x: Literal[object()]',
  'x: io.BytesIO',
  'x: Request',
  'x: 5',
  'x: json',
  'x: ...',
  'x: Thing()',
  'x: ClassVar[int] = 3',
  'x: Final[int] = 3',
  'x: NoReturn',
  'x: Annotated[int, Field(gt="a")]',
  'x: float = float("nan")',
  'x = float("inf")',
  'x: str = "\\ud800"',
])(
  'refuses a type that no schema can express by function and parameter, and stores nothing: %s',
  async (parameter) => {
    const source = `${BEFORE}class Tools:\n    def fine(self, x: int): pass\n    def lookup(self, first: str, ${parameter}, **rest): pass\n`;
    const { status, body } = await shop.create('odd', source);
    expect([status, body.code]).toEqual([400, 'tool_invalid']);
    expect(body.detail).toMatch(/^The type of parameter x of function lookup .+/);
    // The text names no path of this machine and gives no advice for authors of Pydantic models.
    expect(body.detail).not.toMatch(/\/(home|root|tmp|usr|proc)\/|arbitrary_types_allowed/);
    expect((await shop.as(shop.author, 'GET', 'odd')).status).toBe(404);
  },
);

it.each([
  ['Valves', 'x: Thing = None'],
  ['UserValves', 'x: Callable = print'],
  ['Valves', 'x: float = float("nan")'],
])('refuses a setting without a schema by class and name: %s, %s', async (name, declaration) => {
  const source = `${BEFORE}class Tools:
    class ${name}(BaseModel):
        model_config = {"arbitrary_types_allowed": True}
        fine: int = 1
        ${declaration}
`;
  const { status, body } = await shop.create('odd', source);
  expect([status, body.code]).toEqual([400, 'tool_invalid']);
  expect(body.detail).toMatch(new RegExp(`^The value x of the class ${name} has no JSON form: [^\\n]+$`));
});

it('leaves the stored tool as it is when an update brings such a source', async () => {
  await shop.create('sound', 'class Tools:\n    def f(self): return 1\n');
  const content = `${BEFORE}class Tools:\n    def f(self, x: Thing): return 2\n`;
  const { status, body } = await shop.as(shop.author, 'POST', 'sound/update', {
    name: 'new',
    content,
    meta: {},
  });
  expect([status, body.detail]).toEqual([400, expect.stringContaining('parameter x of function f')]);
  const call = await shop.as(shop.reader, 'POST', 'sound/call', { function: 'f' });
  expect(call.body.result).toBe(1);
});

it('names a method without self', async () => {
  const { status, body } = await shop.create('selfless', 'class Tools:\n    def f(): pass\n');
  expect([status, body.detail]).toEqual([
    400,
    'The function f has no signature that can be read; a method takes `self` first.',
  ]);
});
