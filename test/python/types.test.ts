import { afterAll, describe, expect, test } from 'vitest';
import { callTool, startTestPython, toolOf } from '../support/python.ts';

const python = await startTestPython();
afterAll(() => python.close());

const call = (content: string) => callTool(python, content);

const NAMELESS = `class Kind(type):
    __name__ = property(lambda cls: cls.nothing)
class Nameless(metaclass=Kind): pass
class Unsayable(Exception, metaclass=Kind): pass
class Text(str):
    def __format__(self, how): raise KeyboardInterrupt
class Odd(Exception):
    def __str__(self): return Text("odd")
class Pair:
    __class__ = tuple
    def __len__(self): raise SystemExit(1)
`;

describe('answers a call and keeps the process when', () => {
  test.each([
    ['a result has a type without a name', 'return Nameless()', 'The tool failed, and cannot say how.'],
    [
      'an exception has a type without a name',
      'raise Unsayable("x")',
      'The tool failed, and cannot say how.',
    ],
    ['the text of an exception ends the process', 'raise Odd', 'The tool failed, and cannot say how.'],
    ['a result claims to be a pair', 'return Pair()', 'SystemExit: 1'],
    ['numbers have no known kind', 'return Numbers()', /has no JSON form: .*Maximum serialization depth/],
    ['a streamed response is cancelled', 'return stream(asyncio.CancelledError())', 'CancelledError'],
    ['a streamed response ends the process', 'return stream(SystemExit(3))', 'SystemExit: 3'],
  ])('%s', async (_when, body, message) => {
    const before = `import asyncio, os
from fastapi.responses import StreamingResponse
${NAMELESS}
class Numbers:
    def tolist(self): return [Numbers()]
def stream(error):
    async def parts():
        yield "a"
        raise error
    return StreamingResponse(parts())`;
    const content = toolOf(`def f(self):\n    ${body}\ndef pid(self): return os.getpid()`, before);
    const pid = async () => (await callTool(python, content, {}, { function: 'pid' })).result;
    const first = await pid();
    const error = await call(content).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'tool_raised', message: expect.stringMatching(message) });
    expect(await pid()).toBe(first);
  });
});

test('an asynchronous function may return an asynchronous generator', async () => {
  const content = toolOf('async def f(self): return parts()', 'async def parts():\n    yield 1\n    yield 2');
  expect((await call(content)).result).toEqual([1, 2]);
});

describe('a tool loads', () => {
  const MODEL = 'from pydantic import BaseModel';
  test.each([
    [
      'that finds missing attributes in a member of its own',
      toolOf(
        'def __init__(self): self.kept = {}\ndef __getattr__(self, name): return self.kept[name]\ndef f(self): return 1',
      ),
    ],
    [
      'whose valves are a property',
      toolOf('@property\ndef valves(self): raise ValueError("not yet")\ndef f(self): return 1'),
    ],
    [
      'that keeps its valves under the name of their class',
      toolOf(
        'class Valves(BaseModel):\n    count: int = 1\ndef __init__(self): self.Valves = self.Valves()\ndef f(self): return self.Valves.count',
        MODEL,
      ),
    ],
  ])('%s', async (_which, content) => {
    expect((await call(content)).result).toBe(1);
  });

  test('but fails at once with the reason when making its valves fails', async () => {
    const content = toolOf(
      'class Valves(BaseModel):\n    count: int = 1\n@property\ndef valves(self): raise ValueError("not yet")\ndef f(self): return 1',
      MODEL,
    );
    const message = 'The tool failed to load in line 6: ValueError: not yet';
    await expect(call(content)).rejects.toMatchObject({ code: 'tool_invalid', message });
  });
});
