import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage } from '../openai/wire.ts';

/** The Messages door on the wire, over a scripted provider that speaks OpenAI's format. */

const stage = await openStage('small');
const { provider, server, key } = stage;
afterAll(() => stage.close());
beforeEach(() => provider.script((request, wire) => wire.say(`Hello from ${request.body.model}.`)));

// biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
type Answer = any;
const ASK = { model: 'small', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

const post = (body: object, path = '/v1/messages') =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASK, ...body }),
  });
const create = async (body: object = {}): Promise<Answer> => (await post(body)).json();
const lastChat = () => provider.chats().at(-1)?.body;
/** What the provider gets of a request. */
async function sent(body: object): Promise<Answer> {
  const response = await post(body);
  expect([response.status, response.ok || (await response.text())]).toEqual([200, true]);
  return lastChat();
}

interface Event {
  event: string;
  data: Answer;
}
async function stream(body: object = {}): Promise<Event[]> {
  const text = await (await post({ stream: true, ...body })).text();
  return [...text.matchAll(/^event: (.+)\ndata: (.+)$/gm)].map(([, event = '', data = '']) => ({
    event,
    data: JSON.parse(data),
  }));
}

describe('a message', () => {
  it.each(['/v1/messages', '/api/v1/messages', '/api/messages', '/api/message', '/v1/messages?beta=true'])(
    'is answered at %s',
    async (path) => {
      const response = await post({}, path);
      expect(response.headers.get('request-id')).toBeTruthy();
      expect([response.status, await response.json()]).toMatchObject([
        200,
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          model: 'small',
          content: [{ type: 'text', text: 'Hello from small.' }],
          stop_reason: 'end_turn',
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0 },
        },
      ]);
    },
  );

  it.each([
    ['length', {}, 'max_tokens', null],
    ['content_filter', {}, 'refusal', null],
    ['stop', { stop_reason: 'END' }, 'stop_sequence', 'END'],
    ['stop', { stop_reason: 'other' }, 'end_turn', null],
  ])('that ends with %s %j is told so', async (finish_reason, more, stop_reason, stop_sequence) => {
    provider.script((_request, wire) => {
      wire.delta({ content: 'x' });
      wire.chunk({ choices: [{ index: 0, delta: {}, finish_reason, ...more }] });
      wire.line('[DONE]');
      wire.end();
    });
    const body = { stop_sequences: ['END'] };
    expect(await create(body)).toMatchObject({ stop_reason, stop_sequence });
    const end = (await stream(body)).find(({ event }) => event === 'message_delta');
    expect(end?.data.delta).toMatchObject({ stop_reason, stop_sequence });
  });

  it('has calls of tools and, when the client asks for it, reasoning', async () => {
    provider.script((_request, wire) => {
      wire.delta({ reasoning_content: 'Hmm.' });
      wire.delta({ content: 'Let me look.' });
      wire.call(
        { name: 'look', arguments: { at: 1 }, id: 'a' },
        { name: 'wait', arguments: 'no JSON', id: 'b' },
      );
    });
    const calls = [
      { type: 'text', text: 'Let me look.', citations: null },
      { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'b', name: 'wait', input: { input: 'no JSON' }, caller: { type: 'direct' } },
    ];
    expect(await create()).toMatchObject({ content: calls, stop_reason: 'tool_use' });
    expect((await create({ thinking: { type: 'enabled', budget_tokens: 1024 } })).content).toEqual([
      { type: 'thinking', thinking: 'Hmm.', signature: '' },
      ...calls,
    ]);
  });
});

describe('a stream', () => {
  it('is a message of one block of text', async () => {
    const events = await stream();
    expect(events.map(({ event, data }) => event === data.type && event)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0]?.data.message).toMatchObject({ model: 'small', content: [], stop_reason: null });
    expect(events[3]?.data).toEqual({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: ' from' },
    });
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  });

  it('has blocks one after the other for reasoning, text, and calls whose arguments come mixed', async () => {
    provider.script((_request, wire) => {
      const call = (index: number, of: object) => wire.delta({ tool_calls: [{ index, ...of }] });
      wire.delta({ reasoning_content: 'Hmm.' });
      wire.delta({ content: 'Now.' });
      call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":' } });
      call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '{"y":' } });
      call(0, { function: { arguments: '1}' } });
      call(1, { function: { arguments: '2}' } });
      wire.finish('tool_calls');
    });
    const events = await stream({ thinking: { type: 'adaptive' } });
    const blocks: Answer[] = [];
    let open: number | null = null;
    for (const { data } of events) {
      if (data.type === 'content_block_start') {
        expect([open, data.index]).toEqual([null, blocks.length]);
        open = data.index;
        blocks.push({ ...data.content_block, got: '' });
      }
      if (data.type === 'content_block_delta') {
        expect(data.index).toBe(open);
        blocks[data.index].got += data.delta.text ?? data.delta.thinking ?? data.delta.partial_json;
      }
      if (data.type === 'content_block_stop') {
        expect(data.index).toBe(open);
        open = null;
      }
    }
    expect(blocks.map(({ type, id, name, got }) => [type, id, name, got])).toEqual([
      ['thinking', undefined, undefined, 'Hmm.'],
      ['text', undefined, undefined, 'Now.'],
      ['tool_use', 'a', 'f', '{"x":1}'],
      ['tool_use', 'b', 'g', '{"y":2}'],
    ]);
    expect(events.at(-2)?.data.delta.stop_reason).toBe('tool_use');
  });

  it('ends with an event when the provider fails after the first token, and has a status before', async () => {
    let cut = () => {};
    provider.script((_request, wire) => {
      wire.delta({ content: 'first' });
      cut = () => wire.cut();
    });
    const { body } = await post({ stream: true });
    let text = '';
    for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      text += piece;
      cut();
    }
    const [, last = ''] = /event: error\ndata: (.+)\n\n$/.exec(text) ?? [];
    expect(JSON.parse(last)).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'provider_failed' },
    });

    provider.script((_request, wire) =>
      wire.json(429, { error: { message: 'slow' } }, { 'retry-after': '3' }),
    );
    const response = await post({ stream: true });
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toMatchObject([
      429,
      '3',
      { type: 'error', error: { type: 'rate_limit_error' }, request_id: expect.any(String) },
    ]);
  });

  it.each([true, false])(
    "refuses a prompt that is too long in Anthropic's words (stream: %s)",
    async (stream) => {
      const error = { message: 'The messages have 9 tokens.', code: 'context_length_exceeded' };
      provider.script((_request, wire) => wire.json(400, { error }));
      const response = await post({ stream });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          error: {
            type: 'invalid_request_error',
            message:
              'scripted refuses the request because the prompt is too long: The messages have 9 tokens.',
          },
        },
      ]);
    },
  );
});

describe('a request', () => {
  it('has one system message, at the beginning, and turns that alternate, as most models need it', async () => {
    const block = (text: string) => [{ type: 'text', text }];
    const { messages } = await sent({
      system: 'Be brief.',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
        { role: 'system', content: block('It is Monday.') },
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: block('And?') },
        { role: 'user', content: 'Go on.' },
      ],
    });
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      { role: 'user', content: 'Hello\n\n<system>\nIt is Monday.\n</system>' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'And?\n\nGo on.' },
    ]);
  });

  it('gives the provider the system prompt and parameters in its own form', async () => {
    const input_schema = { type: 'object', properties: { at: { type: 'integer' } } };
    expect(
      await sent({
        system: [
          { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'Be kind.' },
        ],
        temperature: 0.3,
        top_p: 0.9,
        top_k: 40,
        stop_sequences: ['END'],
        metadata: { user_id: 'u' },
        thinking: { type: 'enabled', budget_tokens: 1024 },
        tools: [{ name: 'look', description: 'Looks', input_schema, cache_control: { type: 'ephemeral' } }],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      }),
    ).toEqual({
      model: 'small',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 100,
      temperature: 0.3,
      top_p: 0.9,
      top_k: 40,
      stop: ['END'],
      tools: [
        { type: 'function', function: { name: 'look', description: 'Looks', parameters: input_schema } },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    });
  });

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'look' },
      { type: 'function', function: { name: 'look' } },
    ],
  ])('chooses tools by %j', async (tool_choice, expected) => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    expect((await sent({ tools, tool_choice })).tool_choice).toEqual(expected);
  });

  it('carries calls of tools, their results, images and documents', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const { messages } = await sent({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look' }, image] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hmm.', signature: '' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
            { type: 'tool_use', id: 'b', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A cat' }, image] },
            { type: 'tool_result', tool_use_id: 'b', content: 'too dark', is_error: true },
            { type: 'text', text: 'And?' },
            {
              type: 'document',
              title: 'Notes',
              source: { type: 'text', media_type: 'text/plain', data: 'Cats.' },
            },
            { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
          ],
        },
      ],
    });
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Look' }, url] },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A cat' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: too dark' },
      {
        role: 'user',
        content: [
          url,
          { type: 'text', text: 'And?' },
          { type: 'text', text: 'Notes' },
          { type: 'text', text: 'Cats.' },
          { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
        ],
      },
    ]);
  });

  it.each([
    ['tools of Anthropic', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, /^tools\.0/],
    [
      'files of Anthropic',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file' } }] }] },
      /^messages\.0/,
    ],
    [
      'addresses that are not on the web',
      {
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }] },
        ],
      },
      /^messages\.0/,
    ],
    ['a tool choice without a name', { tool_choice: { type: 'tool' } }, /^tool_choice\.name/],
    ['no tokens', { max_tokens: 0 }, /^max_tokens/],
  ])('with %s is refused by name', async (_what, body, message) => {
    const response = await post(body);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: expect.stringMatching(message) } },
    ]);
  });
});

describe('counting tokens', () => {
  const count = async (body: object) =>
    (await (await post(body, '/v1/messages/count_tokens')).json()) as Answer;

  it('estimates by characters, and counts images by number', async () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(100_000) },
    };
    const text = (length: number) => ({ type: 'text', text: 'x'.repeat(length) });
    const messages = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
    expect(await count(messages(text(400)))).toEqual({ input_tokens: 104 });
    expect(await count(messages(text(400), image))).toEqual({ input_tokens: 1_604 });
    expect((await count({ system: 'x'.repeat(400) })).input_tokens).toBeGreaterThan(100);
  });
});
