import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { dataOf, HELLO, openStage, postJson } from './wire.ts';

/** The OpenAI door on the wire, over a scripted provider. */

const stage = await openStage('small', 'org/large');
const { provider, post } = stage;
afterAll(() => stage.close());
beforeEach(() => provider.script((request, wire) => wire.say(`Hello from ${request.body.model}.`)));

const PREFIXES = ['/v1', '/api/v1', '/api'];
// biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
type Answer = any;
const json = async (response: Response): Promise<Answer> => response.json();
const chat = (body: object = {}, prefix = '/v1') => post(`${prefix}/chat/completions`, { ...HELLO, ...body });
const stream = async (body: object = {}) => {
  const response = await chat({ stream: true, ...body });
  return dataOf(await response.text()) as Answer[];
};
const lastChat = () => provider.chats().at(-1)?.body;

describe('a completion', () => {
  it.each(PREFIXES)('is answered whole under %s', async (prefix) => {
    const response = await chat({}, prefix);
    expect(response.status).toBe(200);
    expect(await json(response)).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'small',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello from small.', refusal: null },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
  });

  it('joins texts, reasoning, calls of tools, log probabilities and several choices', async () => {
    provider.script((_request, wire) => {
      const at = (index: number, delta: object, more: object = {}) =>
        wire.chunk({ choices: [{ index, delta, finish_reason: null, ...more }] });
      at(0, { role: 'assistant', reasoning_content: 'Hm' });
      at(0, { role: 'assistant', reasoning_content: 'm.' });
      at(0, { content: 'A' }, { logprobs: { content: [{ token: 'A', logprob: -1 }] } });
      at(1, { role: 'assistant', content: 'Second' });
      at(0, { content: 'B' }, { logprobs: { content: [{ token: 'B', logprob: -2 }] } });
      at(1, { refusal: 'No.' });
      at(0, {
        tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":' } }],
      });
      at(0, {
        tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }],
      });
      at(0, { tool_calls: [{ index: 0, function: { arguments: '1}' } }] });
      at(1, {}, { finish_reason: 'length' });
      wire.finish('tool_calls');
    });
    const { choices } = await json(
      await chat({ n: 2, tools: [{ type: 'function', function: { name: 'f' } }] }),
    );
    expect(choices).toEqual([
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: {
          content: [
            { token: 'A', logprob: -1 },
            { token: 'B', logprob: -2 },
          ],
        },
        message: {
          role: 'assistant',
          content: 'AB',
          reasoning_content: 'Hmm.',
          refusal: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
      },
      {
        index: 1,
        finish_reason: 'length',
        logprobs: null,
        message: { role: 'assistant', content: 'Second', refusal: 'No.' },
      },
    ]);
  });

  it('tells calls of tools apart that have the same index, or none', async () => {
    const part = (id: string | undefined, text: string, index?: number) => ({
      index,
      ...(id && { id, type: 'function' }),
      function: { ...(id && { name: 'f' }), arguments: text },
    });
    for (const index of [0, undefined]) {
      provider.script((_request, wire) => {
        wire.delta({ tool_calls: [part('a', '{"x":', index)] });
        wire.delta({ tool_calls: [part(undefined, '1}', index)] });
        wire.delta({ tool_calls: [part('b', '{"x":2}', index)] });
        wire.finish('tool_calls');
      });
      const called = { a: '{"x":1}', b: '{"x":2}' };
      const { choices } = await json(await chat());
      const calls: Answer[] = choices[0].message.tool_calls;
      expect(Object.fromEntries(calls.map((call) => [call.id, call.function.arguments]))).toEqual(called);
      const streamed = (await stream()).flatMap((chunk) => chunk.choices?.[0].delta.tool_calls ?? []);
      expect(streamed.map((call: Answer) => [call.index, call.function.arguments])).toEqual([
        [0, '{"x":'],
        [0, '1}'],
        [1, '{"x":2}'],
      ]);
      const { content } = await json(await post('/v1/messages', { ...HELLO, max_tokens: 5 }));
      expect(content.map(({ id, input }: Answer) => [id, input])).toEqual([
        ['a', { x: 1 }],
        ['b', { x: 2 }],
      ]);
    }
  });

  it('takes at most 128 calls of tools, and 1 MiB of their arguments', async () => {
    const called = (index: number) => ({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } });
    const large = { ...called(0), function: { name: 'f', arguments: 'x'.repeat(1024 * 1024 + 1) } };
    for (const tool_calls of [Array.from({ length: 60_000 }, (_, index) => called(index)), [large]]) {
      provider.script((_request, wire) => {
        wire.delta({ tool_calls });
        wire.finish('tool_calls');
      });
      expect((await chat()).status).toBe(502);
    }
  });

  it('joins lists of many elements in time', async () => {
    const details = Array.from({ length: 60_000 }, (_, index) => ({ index, text: 'a' }));
    provider.script((_request, wire) => {
      wire.delta({ reasoning_details: details });
      wire.delta({ content: 'Hello', reasoning_details: [{ index: 59_999, text: 'b' }] });
      wire.finish();
    });
    const { choices } = await json(await chat());
    expect(choices[0].message.reasoning_details.at(-1)).toEqual({ index: 59_999, text: 'ab' });
  });

  it('keeps the end of each choice, also where choices have no index', async () => {
    provider.script((_request, wire) => {
      wire.chunk({ choices: [{ index: 0, delta: { content: 'A' }, finish_reason: 'stop' }] });
      wire.chunk({ choices: [{ index: 1, delta: { content: 'B' }, finish_reason: 'length' }] });
      wire.line('[DONE]');
      wire.end();
    });
    const { choices } = await json(await chat({ n: 2 }));
    expect(choices.map((choice: Answer) => choice.finish_reason)).toEqual(['stop', 'length']);
    provider.script((_request, wire) => {
      wire.chunk({ choices: [{ delta: { content: 'Hel' } }] });
      wire.chunk({ choices: [{ delta: { content: 'lo' }, finish_reason: 'length' }] });
      wire.line('[DONE]');
      wire.end();
    });
    const [only, ...others] = (await json(await chat())).choices;
    expect(only).toMatchObject({ index: 0, message: { content: 'Hello' }, finish_reason: 'length' });
    expect(others).toEqual([]);
    const { content } = await json(await post('/v1/messages', { ...HELLO, max_tokens: 5 }));
    expect(content).toMatchObject([{ type: 'text', text: 'Hello' }]);
  });

  it('passes all parameters through, and drops and names those of comparable systems', async () => {
    const response = await chat({
      temperature: 0.5,
      response_format: { type: 'json_object' },
      vendor_option: { deep: [1, null] },
      user: null,
      features: { web_search: true },
      chat_id: 'x',
    });
    expect(response.headers.get('x-ignored-members')).toBe('chat_id, features');
    expect(lastChat()).toMatchObject({
      model: 'small',
      messages: HELLO.messages,
      temperature: 0.5,
      response_format: { type: 'json_object' },
      vendor_option: { deep: [1, null] },
      stream: true,
    });
    for (const name of ['features', 'chat_id', 'user', 'tool_ids'])
      expect(lastChat()).not.toHaveProperty(name);
  });

  it('takes images as data of 10 MB', async () => {
    const url = `data:image/png;base64,${'A'.repeat(10_000_000)}`;
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url } },
    ];
    expect((await chat({ messages: [{ role: 'user', content }] })).status).toBe(200);
    expect(lastChat().messages[0].content[1].image_url.url).toHaveLength(url.length);
  });
});

describe('a stream', () => {
  it.each([
    ['each chunk has', { role: 'assistant' }],
    ['no chunk has', {}],
  ])(
    'has one id, the role once where %s one, the usage with the last choice, and [DONE]',
    async (_what, role) => {
      provider.script((_request, wire) => {
        for (const content of ['Hel', 'lo']) wire.delta({ ...role, content });
        wire.finish();
      });
      const response = await chat({ stream: true });
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(response.headers.get('x-accel-buffering')).toBe('no');
      expect(response.headers.get('x-request-id')).toBeTruthy();
      const events = dataOf(await response.text()) as Answer[];
      expect(events.at(-1)).toBe('[DONE]');
      const chunks = events.slice(0, -1);
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
      expect(chunks.map(({ choices, usage }) => [choices[0], usage?.total_tokens])).toEqual([
        [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }, undefined],
        [{ index: 0, delta: { content: 'lo' }, finish_reason: null }, undefined],
        [{ index: 0, delta: {}, finish_reason: 'stop' }, 15],
      ]);
      expect(
        chunks.every(({ object, model }) => object === 'chat.completion.chunk' && model === 'small'),
      ).toBe(true);
    },
  );

  it('has the usage in a chunk of its own when the client asks for it', async () => {
    const chunks = (await stream({ stream_options: { include_usage: true } })).slice(0, -1);
    expect(
      chunks.filter(({ usage }) => usage).map(({ choices, usage }) => [choices, usage.total_tokens]),
    ).toEqual([[[], 15]]);
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
  });

  it('sends each chunk when it comes', async () => {
    let goOn = () => {};
    provider.script(async (_request, wire) => {
      wire.delta({ content: 'first' });
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      wire.finish();
    });
    const { body } = await chat({ stream: true });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(String(Buffer.from(value ?? []))).toContain('first');
    goOn();
    while (!(await reader.read()).done);
  });

  it('ends at the provider when the client goes away', async () => {
    provider.script((_request, wire) => wire.delta({ content: 'first' }));
    const client = new AbortController();
    const response = await fetch(`${stage.server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...HELLO, stream: true }),
      signal: client.signal,
    });
    await response.body?.getReader().read();
    client.abort();
    await provider.chats().at(-1)?.closed;
    expect(provider.chats().at(-1)?.isCut).toBe(true);
  });

  it('ends at the provider when the client goes away before the first token', async () => {
    provider.script(() => {});
    const before = provider.chats().length;
    const client = new AbortController();
    const answer = fetch(`${stage.server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
      signal: client.signal,
    });
    await until('the request at the provider', () => provider.chats().length > before);
    client.abort();
    await expect(answer).rejects.toThrow();
    await provider.chats().at(-1)?.closed;
    expect(provider.chats().at(-1)?.isCut).toBe(true);
  });

  it('holds the provider back while the client does not read', async () => {
    let isHeldBack = false;
    const piece = { content: 'x'.repeat(64 * 1024) };
    provider.script((request, wire) => {
      const fill = () => {
        if (request.isCut) return;
        for (let n = 0; n < 16; n += 1) wire.delta(piece);
        isHeldBack = wire.unsent > 8 * 1024 ** 2;
        if (!isHeldBack) setImmediate(fill);
      };
      fill();
    });
    const { body } = await chat({ stream: true });
    await until('a full connection', () => isHeldBack);
    await body?.cancel();
    await provider.chats().at(-1)?.closed;
  });
});

describe('a failure', () => {
  it('before the first token has a status, in the shape of OpenAI only under /v1', async () => {
    provider.script((_request, wire) => wire.json(500, { error: { message: 'boom' } }));
    for (const streams of [false, true]) {
      const response = await chat({ stream: streams });
      expect([response.status, await json(response)]).toEqual([
        502,
        {
          error: { message: expect.any(String), type: 'server_error', param: null, code: 'provider_failed' },
        },
      ]);
      const ours = await chat({ stream: streams }, '/api/v1');
      expect([ours.status, await json(ours)]).toEqual([
        502,
        { detail: expect.any(String), code: 'provider_failed' },
      ]);
    }
  });

  it('of the provider by 429 is answered with 429 and Retry-After', async () => {
    provider.script((_request, wire) =>
      wire.json(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
    );
    const response = await chat();
    expect([response.status, response.headers.get('retry-after'), (await json(response)).error.type]).toEqual(
      [429, '7', 'rate_limit_error'],
    );
  });

  it('after the first token is an event, and the end', async () => {
    let cut = () => {};
    provider.script((_request, wire) => {
      wire.delta({ content: 'first' });
      cut = () => wire.cut();
    });
    const { body } = await chat({ stream: true });
    let text = '';
    for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      text += piece;
      cut();
    }
    expect(dataOf(text)).toEqual([
      expect.objectContaining({ object: 'chat.completion.chunk' }),
      {
        error: { message: expect.any(String), type: 'server_error', param: null, code: 'provider_failed' },
      },
    ]);
  });

  it.each([
    ['/v1/chat/completions', { stream: true }],
    ['/v1/chat/completions', {}],
    ['/v1/messages', { stream: true, max_tokens: 9 }],
  ])('ends the answer of %s %j when its key is deleted', async (path, body) => {
    const asRoot = stage.server.as(stage.root);
    const made = (await asRoot('POST /auths/api_keys', { name: `deleted ${path} ${JSON.stringify(body)}` }))
      .body;
    provider.script((_request, wire) => wire.delta({ content: 'first' }));
    const before = provider.chats().length;
    const answer = postJson(stage.server.url + path, made.api_key, { ...HELLO, ...body }).then((response) =>
      response.text(),
    );
    await until('the request at the provider', () => provider.chats().length > before);
    await asRoot(`DELETE /auths/api_keys/${made.id}`);
    expect(await answer).toContain('credentials');
    await provider.chats().at(-1)?.closed;
    expect(provider.chats().at(-1)?.isCut).toBe(true);
  });

  it.each([
    ['/v1/chat/completions', { stream: true }],
    ['/v1/chat/completions', {}],
    ['/v1/messages', { stream: true, max_tokens: 9 }],
  ])('ends the answer of %s %j when its caller loses the model', async (path, body) => {
    const asRoot = stage.server.as(stage.root);
    const access_grants = [grant(stage.ann.id, 'read')];
    const record = { id: 'team', base_model_id: 'small', name: 'Team', params: {}, meta: {}, access_grants };
    expect((await asRoot('POST /models/create', record)).status).toBe(200);
    provider.script((_request, wire) => wire.delta({ content: 'first' }));
    const before = provider.chats().length;
    const request = { ...HELLO, ...body, model: 'team' };
    const answer = postJson(stage.server.url + path, stage.ann.token, request).then((response) =>
      response.text(),
    );
    await until('the request at the provider', () => provider.chats().length > before);
    await asRoot('POST /models/model/access/update', { id: 'team', access_grants: [] });
    expect(await answer).toContain('model_not_found');
    await provider.chats().at(-1)?.closed;
    expect(provider.chats().at(-1)?.isCut).toBe(true);
    await asRoot('POST /models/model/delete', { id: 'team' });
  });

  it('goes on when its model changes and its caller may still use it', async () => {
    const rest = Promise.withResolvers<void>();
    provider.script(async (_request, wire) => {
      wire.delta({ content: 'first' });
      await rest.promise;
      wire.say(' and last');
    });
    const before = provider.chats().length;
    const answer = chat();
    await until('the request at the provider', () => provider.chats().length > before);
    const asRoot = stage.server.as(stage.root);
    await asRoot('POST /models/create', { id: 'small', name: 'Small', params: {}, meta: {} });
    await asRoot('POST /models/model/delete', { id: 'small' });
    rest.resolve();
    expect((await json(await answer)).choices[0].message.content).toBe('first and last');
  });

  it('after the first token fails a whole answer', async () => {
    provider.script((_request, wire) => {
      wire.delta({ content: 'first' });
      wire.cut();
    });
    expect((await chat()).status).toBe(502);
  });
});

describe('models', () => {
  const get = async (path: string) => {
    const response = await fetch(stage.server.url + path, { headers: { 'x-api-key': stage.key } });
    return [response.status, await json(response)];
  };

  it('are listed in the shapes of OpenAI and Anthropic', async () => {
    const [status, body] = await get('/v1/models');
    expect([status, body]).toMatchObject([200, { object: 'list', has_more: false }]);
    expect(body.data).toContainEqual({
      id: 'small',
      object: 'model',
      created: 1,
      owned_by: 'openai',
      type: 'model',
      display_name: 'small',
      created_at: '1970-01-01T00:00:01.000Z',
    });
  });

  it.each(['/v1/models/org/large', '/v1/models/org%2Flarge'])('are found at %s', async (path) => {
    expect(await get(path)).toMatchObject([200, { id: 'org/large', object: 'model' }]);
  });

  it('that do not exist are not found', async () => {
    expect(await get('/v1/models/none')).toMatchObject([
      404,
      { error: { code: 'model_not_found', param: 'model' } },
    ]);
  });
});

describe('embeddings', () => {
  const embed = async (body: object, prefix = '/v1') =>
    json(await post(`${prefix}/embeddings`, { model: 'small', input: ['one', 'three'], ...body }));

  it.each(PREFIXES)('are numbers under %s', async (prefix) => {
    expect(await embed({}, prefix)).toEqual({
      object: 'list',
      model: 'small',
      data: [
        { object: 'embedding', index: 0, embedding: [3, 1, 0] },
        { object: 'embedding', index: 1, embedding: [5, 1, 0] },
      ],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  it('are base64 when the client asks for it, also where the provider knows only numbers', async () => {
    const { data } = await embed({ encoding_format: 'base64' });
    expect([...new Float32Array(Uint8Array.from(Buffer.from(data[0].embedding, 'base64')).buffer)]).toEqual([
      3, 1, 0,
    ]);
  });

  it('do not name other models to the provider', async () => {
    await embed({ models: ['secret'], fallbacks: ['secret'], dimensions: 3 });
    const { body } = provider.requests.findLast(({ path }) => path.endsWith('/embeddings')) as Answer;
    expect(body).toMatchObject({ dimensions: 3 });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['models']));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['fallbacks']));
  });

  it('take long lists of tokens', async () => {
    const input = Array.from({ length: 100 }, () => Array(1000).fill(7));
    expect((await post('/v1/embeddings', { model: 'small', input })).status).toBe(200);
  });
});
