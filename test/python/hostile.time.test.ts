/** Attacks on the time of other calls: on the clock, on their turn, and on the processor. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/poll.ts';
import { isAlive } from '../support/process.ts';
import type { Answer } from '../support/server.ts';
import { openSocket, type Workshop } from '../tools/workshop.ts';
import { type Hostile, IMPORTS, openHostile, TURN_MS } from './hostile.ts';

describe('the clock', () => {
  let hostile: Hostile;
  let shop: Workshop;
  beforeAll(async () => {
    // Honest calls must begin and end within these times as well.
    hostile = await openHostile({
      callTimeoutMs: TURN_MS + 2_000,
      loadTimeoutMs: TURN_MS + 2_000,
      beginMs: TURN_MS,
    });
    shop = hostile.shop;
  });
  afterAll(() => hostile.close());

  test('an endless loop and a sleep are errors for their callers only', async () => {
    const detail = expect.stringMatching(/took longer than 5 s/);
    const answers = await Promise.all(
      ['while True: pass', 'time.sleep(60)'].map((body) => hostile.run(body)),
    );
    for (const answer of answers) expect(answer).toMatchObject({ status: 504, body: { detail } });
  });

  test('patching the host harms only the own process', async () => {
    const content = `${IMPORTS}class Tools:
    def f(self):
        import gc
        session = next(one for one in gc.get_objects() if type(one).__name__ == "Session")
        host = type(session).serve.__globals__
        host["output"].encode = lambda result: b'"patched"'
        host["Tool"].bind.__globals__["specification"].describe = host["Tool"].bind = None
        json.dumps = builtins.open = None
        return "honest"
`;
    expect((await shop.create('patching', content)).status).toBe(200);
    expect((await hostile.beside(() => hostile.use('patching', 'f'))).body.result).toBe('honest');
    // This process cannot answer any more. When its next call runs out of time, another process takes the
    // calls that follow.
    expect((await hostile.use('patching', 'f')).body.code).toBe('tool_timeout');
    expect((await hostile.use('patching', 'f')).body.result).toBe('honest');
    expect(await hostile.run('return json.dumps(open is not None)')).toMatchObject({
      body: { result: 'true' },
    });
  });

  test('a class body that hangs is refused, and nothing is stored', async () => {
    const refused = await hostile.beside(() =>
      shop.create('hanging', 'import time\nclass Tools:\n    time.sleep(60)'),
    );
    expect(refused).toMatchObject({ status: 400, body: { code: 'tool_invalid' } });
    expect((await shop.as(shop.author, 'GET', 'hanging')).status).toBe(404);
  });

  test.each<[string, string, string]>([
    [
      'never ends',
      'sleeping',
      'def harm(self, __event_emitter__):\n        asyncio.run(__event_emitter__({}))\n        time.sleep(60)',
    ],
    [
      'blocks the event loop',
      'blocking',
      'async def harm(self, __event_emitter__):\n        await __event_emitter__({})\n        time.sleep(60)',
    ],
  ])('another caller of the same tool is served while one caller %s', async (_, id, harm) => {
    const content = `${IMPORTS}class Tools:\n    ${harm}\n    def fine(self): return "fine"\n`;
    expect((await shop.create(id, content)).status).toBe(200);
    const { client, sockets } = openSocket(shop.server.url, shop.writer.token);
    let isHarming = false;
    let error = '';
    client.tools.run.subscribe(
      { id, function: 'harm', arguments: {} },
      {
        onData({ data }) {
          if (data.type === 'event') isHarming = true;
        },
        onError({ message }) {
          error = message;
        },
      },
    );
    await until('the harm', () => isHarming);
    const answers: Answer[] = [];
    do {
      answers.push(await hostile.use(id, 'fine'));
      await pause(100);
    } while (!error);
    await sockets.close();
    expect(answers.map(({ body }) => body.result ?? body)).toEqual(answers.map(() => 'fine'));
    expect(error).toMatch(/took longer/);
  });
});

describe('the processor', () => {
  let hostile: Hostile;
  beforeAll(async () => {
    // On a busy machine, tools get little processor time.
    hostile = await openHostile({ callTimeoutMs: 100_000, cpuSeconds: 1 });
  });
  afterAll(() => hostile.close());

  // The kernel's own limit is not enough: a process may raise its soft limit, and a child starts with a count
  // of zero.
  const UNLIMITED =
    'def burn(seconds):\n    while time.process_time() < seconds: pass\n' +
    'libc.signal(24, ctypes.c_void_p(1))\n' +
    'resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n';

  test.each([
    ['a process that has raised its limit', 'burn(60)'],
    [
      'many children, each within its limit',
      'for _ in range(3):\n    if os.fork() == 0:\n        burn(0.6)\n        time.sleep(60)\ntime.sleep(60)',
    ],
    [
      'sequential children, each within its limit',
      'while True:\n    child = os.fork()\n    if child == 0:\n        burn(0.3)\n        os._exit(0)\n    os.waitpid(child, 0)',
    ],
    [
      'children without a parent that waits for them',
      'libc.signal(17, ctypes.c_void_p(1))\n' +
        'while True:\n    child = os.fork()\n    if child == 0:\n        burn(0.7)\n        os._exit(0)\n' +
        '    try:\n        while True: os.kill(child, time.sleep(0.01) or 0)\n    except ProcessLookupError: pass',
    ],
  ])('%s: the processor time of a tool is counted', async (_, body) => {
    const detail = expect.stringMatching(/used more than 1 s of processor time since its latest call/);
    expect(await hostile.run(UNLIMITED + body)).toMatchObject({ status: 422, body: { detail } });
  });

  test('a thread that a call left behind ends with the processor time of the process', async () => {
    const body = `${UNLIMITED}threading.Thread(target=burn, args=(60,)).start()\nreturn os.getpid()`;
    const { body: answer } = await hostile.run(body);
    await until('the process to be gone', () => !isAlive({ pid: answer.result }));
  });

  test('each call has the whole processor time', async () => {
    const content = `${IMPORTS}class Tools:
    def f(self):
        began = time.process_time()
        while time.process_time() < began + 0.6: pass
        return os.getpid()
`;
    expect((await hostile.shop.create('diligent', content)).status).toBe(200);
    const pids = [];
    for (let call = 0; call < 2; call += 1) pids.push((await hostile.use('diligent', 'f')).body.result);
    expect(new Set(pids).size).toBe(1);
  });
});
