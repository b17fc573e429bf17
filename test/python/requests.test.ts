import { afterAll, describe, expect, test } from 'vitest';
import { MAX_REQUESTS, MAX_REQUESTS_AT_ONCE, MAX_REQUESTS_HELD } from '../../src/python/limits.ts';
import { until } from '../support/poll.ts';
import { callTool, startTestPython, toolOf } from '../support/python.ts';

const MIB = 1024 ** 2;
const python = await startTestPython();
afterAll(() => python.close());

const BEFORE = `import bridge, gc, json, threading, time
from concurrent.futures import ThreadPoolExecutor
def raw(*messages):
    session = next(o for o in gc.get_objects() if type(o).__name__ == "Session")
    for message in messages:
        message = dict(message)
        payload = message.pop("input" if "input" in message else "event")
        body = json.dumps(message).encode() + b"\\n" + json.dumps(payload).encode()
        session._write(len(body).to_bytes(4, "big") + body)
def request(number, **values):
    return {"kind": "request", "call": 1, "ask": number, "operation": "x", "input": values}
`;
/** Sends requests from many threads, each of which waits for its answer. */
const MANY = toolOf(
  `def f(self, count: int, characters: int = 0):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda number: bridge.call("x", number=number, data="x" * characters), range(count)))`,
  BEFORE,
);

describe('requests of a process', () => {
  test('run a limited number at a time, and all are answered', async () => {
    let running = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    const onRequest = async (_: string, input: unknown) => {
      running += 1;
      most = Math.max(most, running);
      if (running === MAX_REQUESTS_AT_ONCE) setImmediate(full.resolve);
      await full.promise;
      running -= 1;
      return (input as { number: number }).number;
    };
    const { result } = await callTool(python, MANY, { count: 40 }, { onRequest });
    expect(result).toEqual(Array.from({ length: 40 }, (_, number) => number));
    expect(most).toBe(MAX_REQUESTS_AT_ONCE);
  });

  test('of one call do not block the requests of another', async () => {
    // The event shows that the request before it has arrived.
    const content = `${MANY}    def modest(self):
        raw({**request(-1), "call": 2}, {"kind": "event", "call": 2, "event": 1})
        return bridge.call("x")`;
    const held: (() => void)[] = [];
    const hoard = () => new Promise<void>((resolve) => held.push(resolve));
    const hoarding = callTool(python, content, { count: 30 }, { onRequest: hoard });
    await until('the first to be under way', () => held.length === MAX_REQUESTS_AT_ONCE);
    let isAsked = false;
    let isServed = false;
    const modest = callTool(
      python,
      content,
      {},
      {
        function: 'modest',
        onEvent() {
          isAsked = true;
        },
        onRequest: async () => {
          isServed = true;
        },
      },
    );
    await until('its request', () => isAsked);
    // Another request has its turn first.
    for (let freed = 0; freed < 2; freed += 1) {
      held.shift()?.();
      await until('the next', () => isServed || held.length === MAX_REQUESTS_AT_ONCE);
    }
    expect(isServed).toBe(true);
    const freeing = setInterval(() => held.shift()?.(), 1);
    await Promise.all([hoarding, modest]).finally(() => clearInterval(freeing));
  });

  test('with more text than the server holds at once are all answered', async () => {
    const [count, characters] = [5, 4 * MIB];
    expect(count * characters).toBeGreaterThan(MAX_REQUESTS_HELD);
    const onRequest = async (_: string, input: unknown) => (input as { data: string }).data.length;
    const { result } = await callTool(python, MANY, { count, characters }, { onRequest });
    expect(result).toEqual(Array(count).fill(characters));
  });

  test('do not run while the process does not read the answers', async () => {
    // The event shows that all requests before it have arrived.
    const content = toolOf(
      'async def f(self):\n    raw(*[request(number) for number in range(150)], {"kind": "event", "call": 1, "event": 1})\n    time.sleep(600)',
      BEFORE,
    );
    let carriedOut = 0;
    const onRequest = async () => {
      carriedOut += 1;
      return 'x'.repeat(4 * MIB);
    };
    const leaving = new AbortController();
    const { signal } = leaving;
    const arrived = Promise.withResolvers<unknown>();
    const deaf = callTool(python, content, {}, { onRequest, signal, onEvent: arrived.resolve });
    deaf.catch(arrived.reject);
    await arrived.promise;
    await until('the first', () => carriedOut > 0);
    // Other tools are served, and no more requests of this process run.
    for (let turn = 0; turn < 3; turn += 1)
      await callTool(python, MANY, { count: 10 }, { onRequest: async () => 1 });
    expect(carriedOut).toBeLessThanOrEqual(MAX_REQUESTS_AT_ONCE);
    leaving.abort(new Error('gone'));
    await expect(deaf).rejects.toThrow('gone');
  });

  test('to the caller end the process when it leaves too many answers unread', async () => {
    const content = toolOf(
      'async def f(self):\n' +
        '    raw(*[{"kind": "ask", "call": 1, "ask": number, "event": 1} for number in range(50)])\n    time.sleep(60)',
      BEFORE,
    );
    const onAsk = async () => 'x'.repeat(2 * MIB);
    await expect(callTool(python, content, {}, { onAsk })).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringContaining('did not read what it was sent'),
    });
  });

  test('in an endless loop are refused, and then the process is ended', async () => {
    const onRequest = async () => 1;
    const often = toolOf(
      `def f(self):
    found = []
    for number in range(${MAX_REQUESTS + 1}):
        try: found.append(bridge.call("x"))
        except RuntimeError as error: found.append(str(error))
    return found`,
      BEFORE,
    );
    const { result } = await callTool(python, often, {}, { onRequest });
    expect(result).toEqual([
      ...Array(MAX_REQUESTS).fill(1),
      `A call may ask the server ${MAX_REQUESTS} times.`,
    ]);
    const endless = toolOf(
      'async def f(self):\n    for number in range(10**6): raw(request(number))\n    time.sleep(60)',
      BEFORE,
    );
    await expect(callTool(python, endless, {}, { onRequest })).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringContaining('belongs to no call'),
    });
  });

  test.each([
    ['a prototype', '{"__proto__": {"polluted": 1}}', /__proto__/],
    ['many values', '[0] * 60_000', /more than 50000 values/],
    ['many levels', 'deep', /nested deeper than 128/],
  ])('have the limits of other untrusted input: %s', async (_what, input, message) => {
    const content = toolOf(
      `def f(self):
    deep = []
    for _ in range(200): deep = [deep]
    try: return bridge.call("x", value=${input})
    except RuntimeError as error: return str(error)`,
      BEFORE,
    );
    let isAsked = false;
    const onRequest = async () => {
      isAsked = true;
    };
    const { result } = await callTool(python, content, {}, { onRequest });
    expect(result).toMatch(message);
    expect([isAsked, 'polluted' in {}]).toEqual([false, false]);
  });

  test('of a thread that outlives its call are refused, and the thread never hangs', async () => {
    const content = toolOf(
      `def f(self):
    self.found, self.later = [], threading.Event()
    def work():
        self.later.wait()
        try: self.found.append(bridge.call("x"))
        except RuntimeError as error: self.found.append(str(error))
    self.thread = threading.Thread(target=work)
    self.thread.start()
def after(self):
    self.later.set()
    self.thread.join()
    return self.found`,
      BEFORE,
    );
    const onRequest = async () => 1;
    await callTool(python, content, {}, { onRequest });
    const { result } = await callTool(python, content, {}, { onRequest, function: 'after' });
    expect(result).toEqual([expect.stringMatching(/has ended|does not wait/)]);
  });
});
