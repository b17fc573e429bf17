import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/poll.ts';
import type { Answer } from '../support/server.ts';
import { openSocket, openWorkshop, type Workshop } from '../tools/workshop.ts';

/** Functions that a tool can use to write to its channel without the host. */
const BEFORE = `import gc, json, os, threading, time
def say(*bodies):
    session = next(o for o in gc.get_objects() if type(o).__name__ == "Session")
    for body in bodies:
        if not isinstance(body, bytes):
            body, payload = dict(body), {}
            own = {"prepared": ["content", "manifest", "missing"], "loaded": ["specs", "valves", "user_valves"]}
            for name in own.get(body["kind"], []) + (["code", "detail", "issues"] if body["kind"] == "error" else []):
                if name in body: payload[name] = body.pop(name)
            for name in ("event", "input", "result"):
                if name in body: payload = body.pop(name)
            body = json.dumps(body).encode() + (b"" if body["kind"] == "begun" else b"\\n" + json.dumps(payload).encode())
        session._write(len(body).to_bytes(4, "big") + body)
USAGE = {"cpu_ms": 1, "peak_memory_bytes": 1}
`;
const NEIGHBOUR = 'import os\nclass Tools:\n    def pid(self): return os.getpid()\n';

let shop: Workshop;
let neighbour: number;
beforeAll(async () => {
  shop = await openWorkshop({});
  await shop.create('neighbour', NEIGHBOUR);
  neighbour = (await use('neighbour', 'pid')).body.result;
});
afterAll(async () => {
  // The same process still runs, so the fork server was not restarted.
  expect((await use('neighbour', 'pid')).body.result).toBe(neighbour);
  await shop.close();
});

const use = (id: string, name: string, args: object = {}) =>
  shop.as(shop.reader, 'POST', `${id}/call`, { function: name, arguments: args });

let number = 0;
/** Stores a tool whose function `f` has this body, and calls it for the first time. */
async function run(body: string): Promise<Answer> {
  number += 1;
  const content = `${BEFORE}class Tools:\n    def f(self):\n        ${body.replaceAll('\n', '\n        ')}\n`;
  expect((await shop.create(`hostile${number}`, content)).status).toBe(200);
  return use(`hostile${number}`, 'f');
}
const ended = async (body: string, reason: RegExp) => {
  expect(await run(`${body}\ntime.sleep(60)`)).toMatchObject({
    status: 422,
    body: { code: 'tool_raised', detail: expect.stringMatching(reason) },
  });
};

const DEEP = 'b"[" * 20_000 + b"]" * 20_000';
const HEADS = {
  event: '{"kind":"event","call":1}\\n',
  ask: '{"kind":"ask","call":1,"ask":1}\\n',
  request: '{"kind":"request","call":1,"ask":1,"operation":"users.me"}\\n',
  result: '{"kind":"result","call":1,"usage":{"cpu_ms":1,"peak_memory_bytes":1},"output":""}\\n',
  prepared: '{"kind":"prepared"}\\n',
  loaded: '{"kind":"loaded"}\\n',
};

describe('a message', () => {
  test.each(Object.entries(HEADS))('of kind %s that is nested endlessly ends its process', (_kind, head) =>
    ended(`say(b'${head}' + ${DEEP})`, /too many lists and objects at once, or too deep/),
  );

  // Lists are counted where the depth is, before the kind is read.
  test('that holds millions of lists ends its process', () =>
    ended(`say(b'${HEADS.event}[' + b"[]," * 2_500_000 + b"0]")`, /too many lists and objects/));
});

describe('messages that belong to no call', () => {
  test.each<[string, string]>([
    ['results', '{"kind": "result", "call": -1, "usage": USAGE, "output": "", "result": 1}'],
    [
      'huge results',
      '{"kind": "result", "call": -1, "usage": USAGE, "output": "", "result": "x" * (8 << 20)}',
    ],
    ['events', '{"kind": "event", "call": 77, "event": 1}'],
    ['questions', '{"kind": "ask", "call": 77, "ask": 1, "event": 1}'],
    ['requests', '{"kind": "request", "call": 77, "ask": 1, "operation": "users.me", "input": {}}'],
    ['messages that a call begins', '{"kind": "begun", "call": 77, "cpu_ms": 1}'],
    ['messages that a running call begins', '{"kind": "begun", "call": 1, "cpu_ms": 1}'],
    ['sources', '{"kind": "prepared", "content": "", "manifest": {}, "missing": []}'],
    ['specifications', '{"kind": "loaded", "specs": [], "valves": None, "user_valves": None}'],
  ])('%s in an endless loop end the process', async (_what, message) => {
    await ended(`while True: say(${message})`, /sent too much that belongs to no call/);
  });

  test('in a flood from a thread of the constructor end the load, or the process', async () => {
    const flood =
      'def flood():\n    while True: say({"kind": "result", "call": -1, "usage": USAGE, "output": "", "result": "x" * (1 << 20)})\n';
    const content = `${BEFORE}${flood}class Tools:\n    def __init__(self): threading.Thread(target=flood, daemon=True).start(); time.sleep(60)\n    def f(self): return 1`;
    expect(await shop.create('flooding', content)).toMatchObject({
      status: 400,
      body: { code: 'tool_invalid', detail: expect.stringMatching(/belongs to no call/) },
    });
  });

  test('are ignored in small numbers', async () => {
    const body =
      'for _ in range(500): say({"kind": "event", "call": 77, "event": 1}, {"kind": "begun", "call": 1, "cpu_ms": 1})\nreturn "fine"';
    expect(await run(body)).toMatchObject({ status: 200, body: { result: 'fine' } });
    // Each answer allows the same number again.
    for (let round = 0; round < 3; round += 1)
      expect((await use(`hostile${number}`, 'f')).body.result).toBe('fine');
  });
});

describe('the description that a tool writes of itself', () => {
  const members = (count: number) => `{str(n): {} for n in range(${count})}`;

  test.each<[string, string]>([
    [
      'a specification',
      `{"kind": "loaded", "specs": [], "user_valves": None, "valves": ${members(200_000)}}`,
    ],
    ['functions', '{"kind": "loaded", "specs": [{}] * 100_000, "user_valves": None, "valves": None}'],
    ['a list', '{"kind": "loaded", "specs": [], "user_valves": None, "valves": []}'],
  ])('%s beyond the rules are refused, and nothing is stored', async (_what, message) => {
    const content = `${BEFORE}say(${message})\ntime.sleep(60)\nclass Tools:\n    def f(self): return 1`;
    const refused = { status: 400, body: { code: 'tool_invalid' } };
    expect(await shop.create('unspecified', content)).toMatchObject(refused);
    expect((await shop.as(shop.author, 'GET', 'unspecified')).status).toBe(404);
  });

  test('is refused with too many valves', async () => {
    const checker = `from pydantic import BaseModel, field_validator
class Tools:
    class Valves(BaseModel):
        key: str = ""
        @field_validator("key")
        @classmethod
        def check(cls, value):
            values = {"values": ${members(100_000)}, "ignored": ["toString"] * 100_000}
            say({"kind": "result", "call": 1, "usage": USAGE, "output": "", "result": values})
            time.sleep(60)
    def f(self): return 1
`;
    expect((await shop.create('overset', BEFORE + checker)).status).toBe(200);
    expect(await shop.as(shop.author, 'POST', 'overset/valves/update', { key: 'x' })).toMatchObject({
      status: 422,
      body: { code: 'tool_raised', detail: expect.stringMatching(/at most 262144 bytes/) },
    });
    expect((await shop.as(shop.author, 'GET', 'overset/valves')).body).toEqual({});
  });
});

describe('an error', () => {
  const ERROR = '{"kind": "error", "call": 1, "code": "tool_raised", "usage": USAGE, "output": ""';

  test('of megabytes is cut, whatever values the caller has set', async () => {
    const valves =
      'from pydantic import BaseModel\nclass Tools:\n    class UserValves(BaseModel):\n        keys: list[str] = []\n';
    // The first request of the process was for its valves, so this call is the second.
    const say = `say({**${ERROR}}, "call": 2, "detail": "abcdef" * 1_000_000 + "\\ud800", "issues": [{"path": "p" * 9_000, "message": "m"}] * 700})`;
    const content = `${BEFORE}${valves}    def f(self):\n        ${say}\n        time.sleep(60)\n`;
    expect((await shop.create('longwinded', content)).status).toBe(200);
    const keys = Array.from({ length: 20_000 }, (_, at) => `key${at}`.padEnd(9, 'x'));
    const set = await shop.as(shop.reader, 'POST', 'longwinded/valves/user/update', { keys });
    expect(set.status).toBe(200);
    const { status, body } = await use('longwinded', 'f');
    expect([status, body.code]).toEqual([422, 'tool_raised']);
    expect(JSON.stringify(body).length).toBeLessThan(1_000);
  });

  test('without secrets keeps its beginning and its first issues', async () => {
    const { status, body } = await run(
      `say({**${ERROR}}, "code": "arguments_invalid", "detail": "d" * 9_000 + "\\ud800", "issues": [{"path": "p" * 9_000, "message": "m\\ud800"}] * 500})\ntime.sleep(60)`,
    );
    expect([status, body.code, body.issues.length]).toEqual([400, 'arguments_invalid', 100]);
    expect(body.detail).toBe(`${'d'.repeat(4_000)}…`);
    expect(body.issues[0]).toEqual({ path: `${'p'.repeat(4_000)}…`, message: 'm\ufffd' });
  });

  test('with impossible numbers ends the process, and runs are still recorded', async () => {
    for (const usage of [
      '{"cpu_ms": 1e308, "peak_memory_bytes": 1}',
      '{"cpu_ms": 1, "peak_memory_bytes": 1e300}',
    ]) {
      await ended(
        `say({**${ERROR}}, "detail": "x", "issues": [], "usage": ${usage}})`,
        /wrote to the channel/,
      );
      const id = `hostile${number}`;
      const runs = () => shop.as(shop.author, 'GET', `${id}/runs`);
      const stored = await until('the run', async () => {
        const { body } = await runs();
        return body.length > 0 && body;
      });
      expect(stored).toMatchObject([{ outcome: 'tool_raised' }]);
    }
  });
});

test('odd values reach the caller and change nothing on the way', async () => {
  const odd = `b'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"n":1e999,"s":"\\\\ud800\\\\u0000","k\\\\u0000":-0}'`;
  const body =
    `odd = ${odd}\n` + `say(b'${HEADS.event}' + odd)\n` + `say(b'${HEADS.result}' + odd)\ntime.sleep(60)`;
  const { status, body: answer } = await run(body);
  expect(status).toBe(200);
  for (const value of [answer.result, ...answer.events]) {
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'n', 's', 'k\0']);
    expect([value.n, value.s]).toEqual([Number.POSITIVE_INFINITY, '\ud800\0']);
  }
  expect(answer.events).toHaveLength(1);
  expect('polluted' in {}).toBe(false);
});

test('a caller of the subscription gets the error too', async () => {
  const content = `${BEFORE}class Tools:\n    def f(self):\n        say(b'${HEADS.event}' + ${DEEP})\n        time.sleep(60)\n`;
  expect((await shop.create('deeper', content)).status).toBe(200);
  const { client, sockets } = openSocket(shop.server.url, shop.reader.token);
  let error = '';
  client.tools.run.subscribe(
    { id: 'deeper', function: 'f', arguments: {} },
    {
      onError({ message }) {
        error = message;
      },
    },
  );
  await until('the error', () => error);
  await sockets.close();
  expect(error).toMatch(/too deep/);
});
