import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { connectProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { openWorkshop } from '../tools/workshop.ts';
import { dataOf, makeKey, postJson } from './wire.ts';

/** The official JavaScript clients, unchanged, and what they get of tools that the server runs. */

const provider = await startProvider('small');
const { server, admin, create, configure, close } = await openWorkshop({}, { env: { LOG_LEVEL: 'silent' } });
await configure(({ auth }) => {
  auth.enable_api_keys = true;
});
await connectProvider(server, admin, provider, { name: 'scripted' });
const key = await makeKey(server, admin);
await create(
  'dice',
  toolOf(`
    async def roll(self, sides: int, __event_emitter__=None) -> str:
        """
        Roll one die.
        :param sides: How many sides it has
        """
        await __event_emitter__({"type": "status", "data": {"description": "Rolling"}})
        await __event_emitter__({"type": "execute", "data": {"code": "alert(1)"}})
        return f"4 of {sides}"
`),
);
afterAll(async () => {
  await close();
  await provider.close();
});
beforeEach(() => provider.script((request, wire) => wire.say(`Hello from ${request.body.model}.`)));

const openai = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: key, baseURL: server.url, maxRetries: 0 });
const messages = [{ role: 'user' as const, content: 'Hello' }];
const ask = { model: 'small', messages };
const LOOK = { type: 'object' as const, properties: { at: { type: 'integer' as const } } };

/** The model rolls a die, and tells the result. */
function rollOnce(): void {
  provider.script((request, wire) => {
    const result = request.body.messages.find(({ role }: { role: string }) => role === 'tool');
    if (result) return wire.say(`You rolled ${result.content}.`);
    wire.delta({ role: 'assistant', content: 'I roll. ' });
    wire.call({ name: 'roll', arguments: { sides: 6 }, id: 'call_a' });
  });
}
const ROLLED = {
  id: 'call_a',
  tool_id: 'dice',
  name: 'roll',
  arguments: '{"sides":6}',
  status: 'done',
  statuses: ['Rolling'],
  result: '4 of 6',
};

describe('the client of OpenAI', () => {
  it('chats, streams, and counts', async () => {
    const answer = await openai.chat.completions.create(ask);
    expect([answer.choices[0]?.message.content, answer.usage?.total_tokens]).toEqual([
      'Hello from small.',
      15,
    ]);
    const final = await openai.chat.completions.stream(ask).finalChatCompletion();
    expect([final.choices[0]?.message.content, final.usage?.total_tokens]).toEqual(['Hello from small.', 15]);
    const counted = await openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    expect((await counted.finalChatCompletion()).usage?.total_tokens).toBe(15);
  });

  it('runs its own tools', async () => {
    provider.script((request, wire) => {
      const result = request.body.messages.at(-1);
      if (result.role === 'tool') wire.say(`You see ${result.content}.`);
      else wire.call({ name: 'look', arguments: { at: 1 } });
    });
    const runner = openai.chat.completions.runTools({
      ...ask,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'look',
            description: '',
            parse: JSON.parse,
            function: () => 'a cat',
            parameters: LOOK,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('You see a cat.');
  });

  it('ignores what the server tells of its own tools, and gets the answer', async () => {
    rollOnce();
    const body = { ...ask, tool_ids: ['dice'] };
    const stream = openai.chat.completions.stream(body);
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'I roll. You rolled 4 of 6.' },
    });
    expect(final.choices[0]?.message.tool_calls).toBeUndefined();
    expect(final.usage?.total_tokens).toBe(30);
    const whole = await openai.chat.completions.create(body);
    expect(whole.choices[0]?.message.content).toBe('I roll. You rolled 4 of 6.');
    expect(whole).toMatchObject({ parley: { tool_calls: [ROLLED] } });
  });

  it('lists models and embeds', async () => {
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toEqual(['small']);
    expect((await openai.models.retrieve('small')).object).toBe('model');
    const { data } = await openai.embeddings.create({ model: 'small', input: 'four' });
    expect(data[0]?.embedding).toEqual([4, 1, 0]);
  });

  it('throws its own errors', async () => {
    const unknown = openai.chat.completions.create({ ...ask, model: 'none' });
    await expect(unknown).rejects.toThrow(OpenAI.NotFoundError);
    await expect(unknown).rejects.toMatchObject({
      code: 'model_not_found',
      param: 'model',
      requestID: expect.any(String),
    });
    await expect(openai.chat.completions.create({ ...ask, messages: [] })).rejects.toThrow(
      OpenAI.BadRequestError,
    );
    const stranger = new OpenAI({ apiKey: 'sk-wrong', baseURL: `${server.url}/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toThrow(OpenAI.AuthenticationError);
    provider.script((_request, wire) => wire.json(429, {}, { 'retry-after': '1' }));
    await expect(openai.chat.completions.create(ask)).rejects.toThrow(OpenAI.RateLimitError);
    provider.script((_request, wire) => {
      wire.delta({ content: 'x' });
      wire.line('{"error": {"message": "boom"}}');
    });
    await expect(openai.chat.completions.stream(ask).done()).rejects.toMatchObject({
      code: 'provider_failed',
    });
  });
});

describe('the client of Anthropic', () => {
  const create = { ...ask, max_tokens: 50 };

  it('chats, streams, and counts', async () => {
    const answer = await anthropic.messages.create(create);
    expect([answer.content, answer.usage.output_tokens]).toMatchObject([[{ text: 'Hello from small.' }], 5]);
    const final = await anthropic.messages.stream(create).finalMessage();
    expect([final.content, final.stop_reason, final.usage]).toMatchObject([
      [{ type: 'text', text: 'Hello from small.' }],
      'end_turn',
      { input_tokens: 10, output_tokens: 5 },
    ]);
    expect(await anthropic.messages.countTokens(ask)).toEqual({ input_tokens: 6 });
  });

  it('calls its own tools, and reads reasoning', async () => {
    provider.script((request, wire) => {
      const result = request.body.messages.at(-1);
      if (result.role === 'tool') return wire.say(`You see ${result.content}.`);
      wire.delta({ reasoning_content: 'Hmm.' });
      wire.call({ name: 'look', arguments: { at: 1 }, id: 'a' });
    });
    const more = {
      ...create,
      tools: [{ name: 'look', input_schema: LOOK }],
      thinking: { type: 'adaptive' as const },
    };
    const first = await anthropic.messages.stream(more).finalMessage();
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Hmm.' },
        { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
      ],
    });
    const result = { type: 'tool_result' as const, tool_use_id: 'a', content: 'a cat' };
    const second = await anthropic.messages.create({
      ...more,
      messages: [
        ...messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ],
    });
    expect(second.content).toMatchObject([{ text: 'You see a cat.' }]);
  });

  it('ignores what the server tells of its own tools, and gets the answer', async () => {
    rollOnce();
    const body = { ...create, tool_ids: ['dice'] };
    const final = await anthropic.messages.stream(body).finalMessage();
    expect(final.content).toMatchObject([{ text: 'I roll. ' }, { text: 'You rolled 4 of 6.' }]);
    expect(final).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: 10 } });
    expect(await anthropic.messages.create(body)).toMatchObject({ parley: { tool_calls: [ROLLED] } });
  });

  it('lists models', async () => {
    const ids: string[] = [];
    for await (const { id } of anthropic.models.list()) ids.push(id);
    expect(ids).toEqual(['small']);
  });

  it('throws its own errors', async () => {
    const unknown = anthropic.messages.create({ ...create, model: 'none' });
    await expect(unknown).rejects.toThrow(Anthropic.NotFoundError);
    await expect(unknown).rejects.toMatchObject({ type: 'not_found_error', requestID: expect.any(String) });
    const stranger = new Anthropic({ apiKey: 'sk-wrong', baseURL: server.url, maxRetries: 0 });
    await expect(stranger.messages.create(create)).rejects.toThrow(Anthropic.AuthenticationError);
    provider.script((_request, wire) => wire.json(429, {}, { 'retry-after': '1' }));
    await expect(anthropic.messages.create(create)).rejects.toThrow(Anthropic.RateLimitError);
    provider.script((_request, wire) => {
      wire.delta({ content: 'x' });
      wire.line('{"error": {"message": "boom"}}');
    });
    await expect(anthropic.messages.stream(create).done()).rejects.toMatchObject({ type: 'api_error' });
  });
});

describe('a stream with tools of the server', () => {
  it('tells of each call while it runs, with nothing that a client would run', async () => {
    rollOnce();
    const response = await postJson(`${server.url}/v1/chat/completions`, key, {
      ...ask,
      stream: true,
      tool_ids: ['dice'],
    });
    const text = await response.text();
    expect(text).not.toContain('execute');
    expect(text).not.toContain('alert');
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
    const chunks = dataOf(text).slice(0, -1) as any[];
    expect(chunks.every(({ choices }) => choices[0].delta.tool_calls === undefined)).toBe(true);
    const told = chunks.flatMap(({ parley }) => parley?.tool_calls ?? []);
    expect(told.map(({ status }) => status)).toEqual(['running', 'running', 'done']);
    expect(told.at(-1)).toMatchObject(ROLLED);
    expect(chunks.map(({ choices }) => choices[0].finish_reason).filter(Boolean)).toEqual(['stop']);
  });

  it('answers 404 for a tool that the caller may not use', async () => {
    const response = await postJson(`${server.url}/v1/chat/completions`, key, { ...ask, tool_ids: ['none'] });
    expect(response.status).toBe(404);
  });
});
