import { afterAll, describe, expect, test } from 'vitest';
import { callTool, startTestPython, toolOf } from '../support/python.ts';

/** The time limit for calls that never end by themselves. */
const BRIEF = { timeoutMs: 600 };
const python = await startTestPython();
afterAll(() => python.close());

const ASKING = toolOf(
  'async def f(self, question: str, __event_call__=None):\n' +
    '    answer = await __event_call__({"type": "input", "data": {"message": question}})\n' +
    '    return [question, answer]\n' +
    'def plain(self, __event_call__=None):\n    import asyncio\n    return asyncio.run(__event_call__({"type": "confirmation"}))\n' +
    'async def often(self, __event_call__=None):\n    return [await __event_call__(i) for i in range(60)]\n' +
    'async def spin(self, __event_call__=None):\n    await __event_call__(1)\n    while True: pass\n' +
    'async def flood(self, __event_call__=None):\n    import asyncio\n' +
    '    pending = [asyncio.ensure_future(__event_call__(i)) for i in range(3000)]\n    await asyncio.sleep(60)\n' +
    'async def both(self, __event_call__=None):\n    import asyncio\n' +
    '    return await asyncio.gather(__event_call__("a"), __event_call__("b"))\n',
);

describe('__event_call__', () => {
  test('sends the question to the caller and returns the answer; the wait does not count to the time of the call', async () => {
    const asked: unknown[] = [];
    // The call must run within this limit, apart from the wait for the answer.
    const timeoutMs = 5_000;
    const sleeping = toolOf('def f(self): import time; time.sleep(60)');
    const answer = await callTool(
      python,
      ASKING,
      { question: 'Which city?' },
      {
        timeoutMs,
        // The clock stops while the caller answers: a call that begins now runs out of time before the
        // answer.
        onAsk: async (event, signal) => {
          asked.push(event);
          await expect(callTool(python, sleeping, {}, { timeoutMs })).rejects.toMatchObject({
            code: 'tool_timeout',
          });
          return signal.aborted ? 'late' : 'Bern';
        },
      },
    );
    expect(asked).toEqual([{ type: 'input', data: { message: 'Which city?' } }]);
    expect(answer.result).toEqual(['Which city?', 'Bern']);
  });

  test('works in a thread, and for two questions at once', async () => {
    const onAsk = async (event: unknown) => event;
    const plain = await callTool(python, ASKING, {}, { function: 'plain', onAsk });
    expect(plain.result).toEqual({ type: 'confirmation' });
    const both = await callTool(python, ASKING, {}, { function: 'both', onAsk });
    expect(both.result).toEqual(['a', 'b']);
  });

  test('fails clearly without a caller to ask, when the answer fails, and after too many questions', async () => {
    await expect(callTool(python, ASKING, { question: 'x' })).rejects.toMatchObject({
      code: 'tool_raised',
      message: expect.stringContaining('cannot be asked'),
    });
    const onAsk = async () => {
      throw new Error('The caller said no.');
    };
    await expect(callTool(python, ASKING, { question: 'x' }, { onAsk })).rejects.toMatchObject({
      message: expect.stringContaining('The caller said no.'),
    });
    await expect(
      callTool(python, ASKING, {}, { function: 'often', onAsk: async () => 1 }),
    ).rejects.toMatchObject({ message: expect.stringContaining('50 times') });
  });

  test('stops waiting at its time limit', async ({ onTestFinished }) => {
    const hasty = await startTestPython({ askTimeoutMs: 100 });
    onTestFinished(() => hasty.close());
    const onAsk = (_event: unknown, signal: AbortSignal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('Nobody answered.')), { once: true });
      });
    await expect(callTool(hasty, ASKING, { question: 'x' }, { onAsk })).rejects.toMatchObject({
      message: expect.stringContaining('Nobody answered.'),
    });
  });

  test('stops a call that asks endlessly, with or without answers', async () => {
    const stopped = { code: 'tool_raised', message: expect.stringContaining('too many events') };
    await expect(callTool(python, ASKING, {}, { function: 'flood' })).rejects.toMatchObject(stopped);
    const onAsk = () => new Promise(() => {});
    await expect(callTool(python, ASKING, {}, { function: 'flood', onAsk })).rejects.toMatchObject(stopped);
  });

  test('does not extend the time limit of the call itself', async () => {
    const running = callTool(python, ASKING, {}, { ...BRIEF, function: 'spin', onAsk: async () => 1 });
    await expect(running).rejects.toMatchObject({ code: 'tool_timeout' });
  });

  test('does not stop the clock when the tool writes a question before the call begins', async () => {
    const early = toolOf(
      'async def f(self, __event_call__):\n    try: await __event_call__(1)\n    except RuntimeError: time.sleep(60)',
      'import gc, time\nSession = next(type(o) for o in gc.get_objects() if type(o).__name__ == "Session")\n' +
        'begin = Session._begin\nchannel = begin.__globals__["channel"]\ndef early(self, request):\n' +
        '    frames = [b\'{"kind":"ask","call":%d,"ask":0}\\n0\', b\'{"kind":"begun","call":%d,"cpu_ms":0}\']\n' +
        '    self._write(b"".join(channel.encode(frame % request["call"]) for frame in frames))\n    begin(self, request)\n' +
        'Session._begin = early',
    );
    await expect(callTool(python, early, {}, BRIEF)).rejects.toMatchObject({ code: 'tool_timeout' });
  });

  test('raises an error when the caller disconnects, and other calls go on', async () => {
    const content = toolOf(
      'ended = []\n' +
        'async def f(self, __event_call__):\n' +
        '    for _ in range(2):\n        try: await __event_call__(1)\n        except RuntimeError as e: self.ended.append(str(e))\n' +
        'async def see(self, __event_emitter__):\n    await __event_emitter__(1)\n' +
        '    while len(self.ended) < 2: await asyncio.sleep(0.005)\n    return self.ended',
      'import asyncio',
    );
    const gone = new AbortController();
    const sees = Promise.withResolvers<unknown>();
    const seeing = callTool(python, content, {}, { function: 'see', onEvent: sees.resolve });
    await sees.promise;
    const asked: unknown[] = [];
    const onAsk = (event: unknown, signal: AbortSignal) => {
      asked.push(event);
      queueMicrotask(() => gone.abort(new Error('gone')));
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('Nobody answered.')), { once: true });
      });
    };
    await expect(callTool(python, content, {}, { signal: gone.signal, onAsk })).rejects.toThrow('gone');
    expect((await seeing).result).toEqual([
      'Nobody answered.',
      'The caller does not wait for this call any more.',
    ]);
    // No more questions go to the caller that disconnected.
    expect(asked).toHaveLength(1);
  });
});
