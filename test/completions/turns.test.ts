import { afterAll, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/providers/providers.types.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { partsOfServer, runTurn, scopeOf } from './engine.ts';

const provider = await startProvider('small');
const source = partsOfServer();
const server = await startServer({ jobKinds: [source.kind], env: { LOG_LEVEL: 'silent' } });
const [root] = await signUpAll(server, 'Root');
await connectProvider(server, root, provider);
const parts = await source.capture(server.database);
const asRoot = scopeOf(parts, root, 'admin');
const run = (asked: Parameters<typeof runTurn>[2] = {}) => runTurn(asRoot, asRoot, asked);
const lastBody = () => provider.chats().at(-1)?.body;

afterAll(async () => {
  await server.close();
  await provider.close();
});

describe('The request to a provider', () => {
  it.each([
    ['no system message', undefined, 'You talk to Root.'],
    ['a system message', 'Be brief.', 'You talk to Root.\n\nBe brief.'],
    [
      'a system message in parts',
      [{ type: 'text' as const, text: 'Be brief.' }],
      [
        { type: 'text', text: 'You talk to Root.' },
        { type: 'text', text: 'Be brief.' },
      ],
    ],
  ])('has the prompt of the model in front of %s', async (_, own, merged) => {
    const hello = { role: 'user' as const, content: 'Hello' };
    const messages = own ? [{ role: 'system' as const, content: own }, hello] : [hello];
    await run({ messages, change: { system: 'You talk to {{USER_NAME}}.' } });
    expect(lastBody().messages).toEqual([{ role: 'system', content: merged }, hello]);
    expect(messages.length).toBe(own ? 2 : 1);
  });

  it('has the prompt of the model alone where the system message has no text', async () => {
    const messages = [{ role: 'system' }, { role: 'user', content: 'Hello' }] as ChatMessage[];
    await run({ messages, change: { system: 'Be kind.' } });
    expect(lastBody().messages[0]).toEqual({ role: 'system', content: 'Be kind.' });
  });

  it('has one limit of the answer, that of the caller before that of the model', async () => {
    const change = { params: { max_tokens: 100 } };
    await run({ change, params: { max_completion_tokens: 5 } });
    expect(lastBody()).toMatchObject({ max_completion_tokens: 5 });
    expect(lastBody()).not.toHaveProperty('max_tokens');
    await run({ change });
    expect(lastBody()).toMatchObject({ max_tokens: 100 });
  });

  it('has the parameters of the model, those of the caller over them, and asks for the usage', async () => {
    await run({
      change: { params: { temperature: 0.1, top_p: 0.5 } },
      params: { temperature: 0.9, stream_options: { chunk: 1 }, function_calling: 'native', seed: 7 },
    });
    expect(lastBody()).toMatchObject({
      temperature: 0.9,
      top_p: 0.5,
      seed: 7,
      stream: true,
      stream_options: { chunk: 1, include_usage: true },
    });
    expect(lastBody()).not.toHaveProperty('function_calling');
  });
});

describe('A turn', () => {
  it('passes on chunks under the id that was asked for, and ends with usage and times', async () => {
    const { events, end } = await run({ change: { id: 'helper' } });
    const models = events.flatMap((event) => (event.type === 'chunk' ? [event.chunk.model] : []));
    expect(new Set(models)).toEqual(new Set(['helper']));
    expect(end).toEqual({
      type: 'end',
      finish_reason: 'stop',
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached_tokens: 0 },
      first_token_ms: expect.any(Number),
      total_ms: expect.any(Number),
      rounds: 1,
      tools_offered: true,
    });
  });

  it('closes the connection to the provider when its caller leaves the loop, and is recorded', async () => {
    provider.script((_, wire) => wire.delta({ content: 'Hello' }));
    const left = run({
      onEvent: () => {
        throw new Error('left');
      },
    });
    await expect(left).rejects.toThrow('left');
    const request = provider.chats().at(-1);
    await request?.closed;
    expect(request?.isCut).toBe(true);
    const [call] = await server.database.query('select outcome from usage_call order by id desc limit 1');
    expect(call?.outcome).toBe('cancelled');
  });

  it('ends when the answer is longer than is accepted', async () => {
    provider.script(async (request, wire) => {
      const text = 'x'.repeat(1024 * 1024);
      for (let sent = 0; sent < 40 && !request.isCut; sent += 1) {
        wire.delta({ content: text });
        await new Promise(setImmediate);
      }
      wire.finish();
    });
    await expect(run()).rejects.toMatchObject({
      code: 'provider_failed',
      message: 'The answer of the model was longer than is accepted.',
    });
    await provider.chats().at(-1)?.closed;
  });

  it('takes no counts of tokens that are no numbers', async () => {
    provider.script((_, wire) => {
      wire.delta({ content: 'Hello' });
      wire.finish('stop', { prompt_tokens: 'many', completion_tokens: -5, total_tokens: 1e300 });
    });
    expect((await run()).end?.usage).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      cached_tokens: 0,
    });
  });
});
