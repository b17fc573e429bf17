import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createEgress } from '../../src/egress/egress.ts';
import { Connection } from '../../src/providers/connection.ts';
import { type Connected, connectionOf, connectionsOf } from '../../src/providers/connections.settings.ts';
import { Places } from '../../src/providers/places.ts';
import type { ChatChunk } from '../../src/providers/providers.types.ts';
import { until } from '../support/poll.ts';
import { connectProviders, type ScriptedProvider, startProvider } from '../support/provider.ts';
import { type Answer, signUpAll, startServer } from '../support/server.ts';

const TOKEN = 'a-token-of-the-scraper-of-metrics-';
const server = await startServer({ env: { METRICS_TOKEN: TOKEN, LOG_LEVEL: 'silent' } });
const [root, ann] = await signUpAll(server, 'Root', 'Ann');
const ask = server.as(root);
const [first, second] = [await startProvider('small', 'only-first'), await startProvider('small')];
const egress = createEgress();

afterAll(async () => {
  await server.close();
  await egress.close();
  await Promise.all([first, second].map((provider) => provider.close()));
});

/** A connection of its own to a provider, as the registry makes it. */
function connectionTo({ url }: Pick<ScriptedProvider, 'url'>, settings: Partial<Connected> = {}): Connection {
  const connected = { ...connectionOf('hosted', url, 'key', { name: 'Test' }), ...settings };
  return new Connection(connected, egress.open(url, { maxBytes: 1024 ** 2 }));
}

const call = (signal: AbortSignal = new AbortController().signal, person = 'ann') => ({
  model: 'small',
  params: { messages: [{ role: 'user' as const, content: 'Hi' }] },
  person,
  signal,
});

async function textOf(stream: AsyncIterable<ChatChunk>): Promise<string> {
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  return text;
}

/** What a whole call throws. */
const failureOf = (connection: Connection) =>
  connection
    .chat(call())
    .then(textOf)
    .then(
      (text) => `no failure: ${text}`,
      (error) => `${error.code}: ${error.message}`,
    );

describe('a connection', () => {
  it('streams the text of the provider, with its key and its headers', async () => {
    const connection = connectionTo(first, { headers: { 'x-team': 'blue' }, extraParams: { top_k: 3 } });
    expect(await textOf(await connection.chat(call()))).toBe('Hello from small.');
    const request = first.chats().at(-1);
    expect(request?.headers).toMatchObject({ authorization: 'Bearer key', 'x-team': 'blue' });
    expect(request?.body).toMatchObject({ stream: true, top_k: 3, model: 'small' });
  });

  it('sends no key without one', async () => {
    await textOf(await connectionTo(first, { key: '' }).chat(call()));
    expect(first.chats().at(-1)?.headers.authorization).toBeUndefined();
  });

  it('uses the connection to the provider again, also when the answer ends after its last event', async () => {
    first.script(async (_request, wire) => {
      wire.delta({ content: 'Hello' }, 'stop');
      wire.line('[DONE]');
      await new Promise((resolve) => setTimeout(resolve, 10));
      wire.end();
    });
    const connection = connectionTo(first);
    const before = first.connections;
    for (let calls = 0; calls < 5; calls += 1) {
      await textOf(await connection.chat(call()));
      await first.chats().at(-1)?.closed;
    }
    expect(first.connections - before).toBeLessThan(5);
    expect(first.chats().at(-1)?.isCut).toBe(false);
    first.script((request, wire) => wire.say(`Hello from ${request.body.model}.`));
  });

  it('closes the connection to the provider when the call ends early', async () => {
    first.script((_request, wire) => wire.delta({ content: 'Once' }));
    const connection = connectionTo(first);
    for await (const _chunk of await connection.chat(call())) break;
    const request = first.chats().at(-1);
    await request?.closed;
    expect(request?.isCut).toBe(true);
    expect(connection.places.taken).toBe(0);
  });

  it('ends with the reason of the signal, before and after the first token', async () => {
    const connection = connectionTo(first);
    for (const isSilent of [true, false]) {
      first.script((_request, wire) => isSilent || wire.delta({ content: 'Once' }));
      const before = first.chats().length;
      const controller = new AbortController();
      const text = connection.chat(call(controller.signal)).then(textOf);
      await until('the request', () => first.chats().length > before);
      controller.abort(new Error('enough'));
      await expect(text).rejects.toThrow('enough');
      await first.chats().at(-1)?.closed;
    }
    expect(connection.places.taken).toBe(0);
  });

  it.each<[string, (provider: ScriptedProvider) => void, string]>([
    [
      'a refused key',
      (one) => one.script((_, wire) => wire.json(401, { error: { message: 'sk-secret' } })),
      'provider_failed: Test refuses the key of this server (401).',
    ],
    [
      'a wrong request',
      (one) => one.script((_, wire) => wire.json(400, { error: { message: 'Too long.' } })),
      'bad_request: Test refuses the request: Too long.',
    ],
    ...[
      { message: 'Too long.', code: 'context_length_exceeded' },
      { message: 'Too long.', type: 'exceed_context_size_error', code: 400 },
      { message: "This model's maximum context length is 10 tokens.", code: 400 },
    ].map((error): [string, (provider: ScriptedProvider) => void, string] => [
      `a prompt that is too long: ${JSON.stringify(error)}`,
      (one) => one.script((_, wire) => wire.json(400, { error })),
      `bad_request: Test refuses the request because the prompt is too long: ${error.message}`,
    ]),
    [
      'a wrong request, without the key and what no text can hold',
      (one) =>
        one.script((_, wire) => wire.json(422, { error: { message: 'The \u0000 key "key" is bad.' } })),
      'bad_request: Test refuses the request: The ******** "********" is bad.',
    ],
    [
      'an answer that is compressed',
      (one) => one.script((_, wire) => wire.json(200, gzipSync('data: {}'), { 'content-encoding': 'gzip' })),
      'provider_failed: Test cannot be reached: Its answer is compressed, which was not asked for.',
    ],
    [
      'too many calls',
      (one) => one.script((_, wire) => wire.json(429, {}, { 'retry-after': '7' })),
      'rate_limited: Test accepts no more calls now. Try again later.',
    ],
    [
      'an error after 200',
      (one) =>
        one.script((_, wire) => {
          wire.delta({ content: 'a' });
          wire.line('{"error":{"message":"Out of memory"}}');
          wire.end();
        }),
      'provider_failed: Test ended its answer with an error: Out of memory',
    ],
    [
      'a piece that is no JSON',
      (one) =>
        one.script((_, wire) => {
          wire.delta({ content: 'a' });
          wire.line('{"choices":');
          wire.end();
        }),
      'provider_failed: Test sent a piece of its answer that is no JSON.',
    ],
    [
      'a piece that is no chunk',
      (one) =>
        one.script((_, wire) => {
          wire.line('{"choices":[{"delta":{"content":7}}]}');
          wire.end();
        }),
      'provider_failed: Test sent a piece of its answer that is no chunk.',
    ],
    [
      'an answer that is no stream',
      (one) => one.script((_, wire) => wire.json(200, '<html>')),
      'provider_failed: Test ended its answer before the first token.',
    ],
    [
      'an answer that breaks off',
      (one) =>
        one.script((_, wire) => {
          wire.delta({ content: 'a' });
          wire.end();
        }),
      'provider_failed: Test broke its answer off.',
    ],
    [
      'a connection that is cut',
      (one) =>
        one.script((_, wire) => {
          wire.delta({ content: 'a' });
          setImmediate(() => wire.cut());
        }),
      'provider_failed: Test broke its answer off (UND_ERR_SOCKET).',
    ],
    [
      'an answer without end',
      (one) =>
        one.script((_, wire) => {
          wire.delta({ content: 'a' });
          wire.raw('x'.repeat(2 * 1024 ** 2));
        }),
      'provider_failed: Test broke its answer off (UND_ERR_RES_EXCEEDED_MAX_SIZE).',
    ],
    [
      'a redirect',
      (one) => one.script((_, wire) => wire.json(302, {}, { location: 'http://127.0.0.1/' })),
      'provider_failed: Test answered 302.',
    ],
  ])('names %s', async (_what, prepare, expected) => {
    prepare(first);
    expect(await failureOf(connectionTo(first))).toBe(expected);
  });

  it('names a server that cannot be reached', async () => {
    const gone = await startProvider();
    await gone.close();
    expect(await failureOf(connectionTo(gone))).toBe(
      'provider_failed: Test cannot be reached (ECONNREFUSED).',
    );
  });

  it('limits the time to the first token, between tokens, and of all', async () => {
    first.script(() => {});
    expect(await failureOf(connectionTo(first, { firstTokenMs: 50 }))).toBe(
      'provider_timeout: Test sent no token within 0.05 seconds.',
    );
    first.script((request, wire) => {
      wire.delta({ content: 'Once' });
      // Some providers keep a connection open like this. It is no token.
      const timer = setInterval(() => wire.raw(': processing\n\n'), 5);
      void request.closed.then(() => clearInterval(timer));
    });
    expect(await failureOf(connectionTo(first, { betweenTokensMs: 50 }))).toBe(
      'provider_timeout: Test sent no token for 0.05 seconds.',
    );
    first.script((_request, wire) => {
      const timer = setInterval(() => wire.delta({ content: 'on and ' }), 5);
      void first
        .chats()
        .at(-1)
        ?.closed.then(() => clearInterval(timer));
    });
    expect(await failureOf(connectionTo(first, { totalMs: 200 }))).toBe(
      'provider_timeout: Test took longer than 0.2 seconds for its answer.',
    );
  });

  it('keeps a character that is split between two packets', async () => {
    first.script(async (_request, wire) => {
      const bytes = Buffer.from(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'für' } }] })}\n\n`,
      );
      const at = bytes.indexOf(0xc3) + 1;
      wire.raw(bytes.subarray(0, at));
      await new Promise((resolve) => setTimeout(resolve, 20));
      wire.raw(bytes.subarray(at));
      wire.finish();
    });
    expect(await textOf(await connectionTo(first).chat(call()))).toBe('für');
  });

  it('takes a refusal of the model for an answer', async () => {
    first.script((_request, wire) => {
      for (let n = 0; n < 120; n += 1) wire.delta({ refusal: 'no ' });
      wire.finish();
    });
    let refused = '';
    for await (const { choices } of await connectionTo(first).chat(call()))
      refused += choices[0]?.delta.refusal ?? '';
    expect(refused).toBe('no '.repeat(120));
  });

  it('drops members by which a provider would speak for this server', async () => {
    first.script((_request, wire) => {
      const choices = [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }];
      wire.chunk({ choices, parley: { tool_calls: [] }, event: { type: 'execute' }, citations: ['c'] });
      wire.end();
    });
    for await (const chunk of await connectionTo(first).chat(call())) {
      expect(Object.keys(chunk)).toEqual(expect.not.arrayContaining(['parley', 'event']));
      expect(chunk).toHaveProperty('citations');
    }
  });

  it('asks for embeddings as numbers', async () => {
    const params = { input: 'Hi' };
    const { data } = await connectionTo(first).embed({ ...call(), params });
    expect(data[0]?.embedding).toEqual([2, 1, 0]);
    expect(first.requests.at(-1)?.body.encoding_format).toBe('float');
  });

  it.each<[string, Parameters<ScriptedProvider['scriptEmbeddings']>[0], Partial<Connected>, string]>([
    [
      'has none',
      (_request, wire) => wire.json(200, { object: 'list' }),
      {},
      'provider_failed: Test sent an answer without embeddings.',
    ],
    [
      'is a page',
      (_request, wire) => wire.json(200, '<html>', { 'content-type': 'text/html' }),
      {},
      'provider_failed: Test sent an answer without embeddings.',
    ],
    ['does not come', () => {}, { totalMs: 50 }, 'provider_timeout: Test did not answer within 0.05 s.'],
  ])('names an answer to a request for embeddings that %s', async (_what, answer, settings, expected) => {
    first.scriptEmbeddings(answer);
    const connection = connectionTo(first, settings);
    const failure = await connection.embed({ ...call(), params: { input: 'Hi' } }).catch((error) => error);
    expect(`${failure.code}: ${failure.message}`).toBe(expected);
    expect(connection.places.taken).toBe(0);
    first.scriptEmbeddings(null);
  });

  it('calls no other server than its own', async () => {
    const { fetch } = egress.open(first.url, { maxBytes: 1000 });
    await expect(fetch(`${second.url}/models`)).rejects.toThrow('another server');
  });

  it('does not reach the addresses where clouds give out credentials', async () => {
    const { fetch } = egress.open('http://169.254.169.254/v1', { maxBytes: 1000 });
    await expect(fetch('http://169.254.169.254/v1/models')).rejects.toThrow('no public address');
  });
});

describe('the places of a connection', () => {
  it('are given to the people who wait in turn', async () => {
    const places = new Places(1);
    const never = new AbortController().signal;
    const release = await places.take('ann', never);
    const order: string[] = [];
    const waits = ['ann', 'ann', 'ben', 'ann', 'cleo'].map((person) =>
      places.take(person, never).then((giveBack) => {
        order.push(person);
        giveBack();
      }),
    );
    release();
    await Promise.all(waits);
    expect(order).toEqual(['ann', 'ben', 'cleo', 'ann', 'ann']);
    expect([places.taken, places.waiting]).toEqual([0, 0]);
  });

  it('are not lost to a call that leaves at the moment of its turn', async () => {
    const places = new Places(1);
    const leaving = new AbortController();
    const release = await places.take('ann', new AbortController().signal);
    leaving.signal.addEventListener('abort', release);
    const left = places.take('ben', leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(places.taken).toBe(0);
  });
});

describe('the connections of the configuration', () => {
  const named = ({ body }: Answer) =>
    body.map(({ name, state, models }: Record<string, unknown>) => [name, state, models]);

  it('are listed for administrators alone', async () => {
    await connectProviders(server, root, [first, { name: 'One' }], [second, { name: 'One' }]);
    expect(named(await ask('GET /providers'))).toEqual([
      ['One', 'ok', 2],
      ['One (2)', 'ok', 1],
    ]);
    expect((await server.as(ann)('GET /providers')).status).toBe(403);
    expect((await server.call('GET /providers')).status).toBe(401);
  });

  it('that do not answer are named by /ready, and the server stays ready', async () => {
    second.scriptList((_request, wire) => wire.json(500, { error: { message: 'broken' } }));
    await connectProviders(server, root, [first, { name: 'One' }], [second, { name: 'Two' }]);
    const ready = await fetch(`${server.url}/ready`);
    expect([ready.status, ((await ready.json()) as Answer['body']).parts.providers]).toEqual([
      200,
      { state: 'degraded', detail: 'no answer from Two' },
    ]);
    expect((await ask('GET /providers')).body[1]).toMatchObject({
      state: 'failed',
      detail: 'Two answered 500: broken',
    });
    second.scriptList(null);
  });

  it('refuse settings of a wrong type', async () => {
    const { body } = await ask('GET /configs/export');
    body.hosted_model_api.api_configs = { 0: { concurrency: 'many' } };
    const answer = await ask('POST /configs/import', body);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('concurrency')]);
  });

  it('take their settings by place or by address, with a prefix and a fixed list of models', () => {
    const hosted = {
      enable: true,
      api_base_urls: ['http://a/v1/', 'http://b/v1', 'http://c/v1'],
      api_keys: ['1'],
      api_configs: { 0: { prefix_id: 'a' }, 'http://b/v1': { enable: false }, 2: { model_ids: ['x'] } },
    };
    const local = { enable: true, base_urls: ['http://o:11434'], api_configs: {} };
    const found = connectionsOf({ hosted_model_api: hosted, local_model_server: local });
    expect(found.map(({ baseUrl, key, prefix, modelIds }) => [baseUrl, key, prefix, modelIds])).toEqual([
      ['http://a/v1', '1', 'a', []],
      ['http://c/v1', '', '', ['x']],
      ['http://o:11434/v1', '', '', []],
    ]);
  });
});

describe('a model at two connections', () => {
  const chat = () =>
    ask('POST /chat/completions', { model: 'small', messages: [{ role: 'user', content: 'Hi' }] });
  const textOfAnswer = ({ body }: Answer) => body.choices[0].message.content;
  const hello: Parameters<ScriptedProvider['script']>[0] = (_request, wire) => wire.say('Hello.');
  const connectBoth = async () => {
    await connectProviders(server, root, [first, { name: 'One' }], [second, { name: 'Two' }]);
    await until('both lists', async () => {
      const { body } = await ask('GET /providers');
      return body.every(({ state }: { state: string }) => state === 'ok');
    });
  };

  it('is asked where fewer calls are under way', async () => {
    await connectBoth();
    const held = Promise.withResolvers<void>();
    for (const provider of [first, second]) {
      provider.script(async (_request, wire) => {
        await held.promise;
        wire.say('Hello.');
      });
    }
    const before = [first, second].map((provider) => provider.chats().length);
    const answers = [1, 2, 3, 4].map(chat);
    const counts = () => [first, second].map((provider, at) => provider.chats().length - (before[at] ?? 0));
    await until('all calls', () => counts().join() === '2,2');
    held.resolve();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it.each<[string, Parameters<ScriptedProvider['script']>[0]]>([
    ['answers 500', (_request, wire) => wire.json(500, {})],
    ['cuts the connection', (_request, wire) => wire.cut()],
    [
      'fails after the chunk with the role',
      (_request, wire) => {
        wire.delta({ role: 'assistant' });
        wire.line('{"error":{"message":"overloaded"}}');
        wire.end();
      },
    ],
  ])('is asked at the other one when one %s', async (_what, failure) => {
    for (const [bad, good] of [
      [first, second],
      [second, first],
    ] as const) {
      await connectBoth();
      bad.script(failure);
      good.script(hello);
      const answers = await Promise.all([1, 2, 3].map(chat));
      expect(answers.map(textOfAnswer)).toEqual(['Hello.', 'Hello.', 'Hello.']);
    }
  });

  it('is not asked again after the first token', async () => {
    await connectBoth();
    const before = first.chats().length + second.chats().length;
    for (const provider of [first, second]) {
      provider.script((_request, wire) => {
        wire.delta({ content: 'Once' });
        setImmediate(() => wire.cut());
      });
    }
    expect((await chat()).status).toBe(502);
    expect(first.chats().length + second.chats().length - before).toBe(1);
  });

  it('ends with the reason when no connection answers, and the metrics name them', async () => {
    await connectBoth();
    for (const provider of [first, second]) provider.script((_request, wire) => wire.json(503, {}));
    const { status, body } = await chat();
    expect([status, body.code]).toEqual([502, 'provider_failed']);
    const text = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    ).text();
    expect(text).toMatch(/parley_provider_calls_total\{connection="One",outcome="provider_failed"\} \d/);
    expect(text).toMatch(/parley_provider_up\{connection="Two"\} 1/);
  });

  it('is asked once at a connection that lists it twice', async () => {
    const twice = await startProvider('double', 'double');
    await connectProviders(server, root, [twice, { name: 'Twice' }]);
    twice.script((_request, wire) => wire.json(503, {}));
    const messages = [{ role: 'user', content: 'Hi' }];
    expect((await ask('POST /chat/completions', { model: 'double', messages })).status).toBe(502);
    expect(twice.chats()).toHaveLength(1);
    await twice.close();
  });

  it('waits for a place of its connection', async () => {
    await connectProviders(server, root, [first, { concurrency: 1 }]);
    const held = Promise.withResolvers<void>();
    first.script(async (_request, wire) => {
      await held.promise;
      wire.say('Hello.');
    });
    const before = first.chats().length;
    const answers = [chat(), chat()];
    await until('the second call to wait', async () => (await ask('GET /providers')).body[0].waiting === 1);
    expect(first.chats().length - before).toBe(1);
    held.resolve();
    expect((await Promise.all(answers)).map(textOfAnswer)).toEqual(['Hello.', 'Hello.']);
  });
});

describe('the test of a connection', () => {
  const steps = ({ body }: Answer) =>
    body.steps.map(({ step, ok }: { step: string; ok: boolean }) => `${step} ${ok}`);

  it('reports each step, and uses the stored key of the address', async () => {
    first.script((request, wire) => wire.say(`Hello from ${request.body.model}.`));
    await connectProviders(server, root, [first]);
    const answer = await ask('POST /providers/test', { url: first.url });
    expect(steps(answer)).toEqual([
      'resolve true',
      'connect true',
      'authorise true',
      'models true',
      'first_token true',
    ]);
    expect(first.chats().at(-1)?.headers.authorization).toBe('Bearer key-0');
  });

  it('ends at the first step that fails, with the reason', async () => {
    first.scriptList((_request, wire) => wire.json(401, {}));
    const answer = await ask('POST /providers/test', { url: first.url, key: 'wrong' });
    expect(answer.status).toBe(200);
    expect(steps(answer).at(-1)).toBe('authorise false');
    expect(answer.body.steps.at(-1).detail).toContain('refuses the key');
    first.scriptList(null);
  });

  it('is refused to members', async () => {
    expect((await server.as(ann)('POST /providers/test', { url: first.url })).status).toBe(403);
  });
});
