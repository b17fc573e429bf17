import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { gate, listen, of, openDesk } from './desk.ts';

const desk = await openDesk(['small', 'small:large', 'other/model-1.5']);
const { provider, ann, bob, root, server, channelId } = desk;
afterAll(() => desk.close());
beforeEach(() => provider.script((request, wire) => wire.say(`Hello from ${request.body.model}.`)));

const at = `/channels/${channelId}/messages`;

describe('a message calls a model', () => {
  it('by its id; the reply is a message in its thread that ends with the text', async () => {
    const ear = await listen(server, bob);
    const message = await desk.post('Good morning, @small!');
    expect(message.meta.mentions).toEqual([{ model_id: 'small', model_name: 'small', resolved: true }]);
    const [reply] = await desk.answers(message.id);
    expect(reply).toMatchObject({
      parent_id: message.id,
      user_id: ann.id,
      content: 'Hello from small.',
      meta: {
        model_id: 'small',
        model_name: 'small',
        done: true,
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        first_token_ms: expect.any(Number),
        total_ms: expect.any(Number),
      },
    });
    await until('the last event', () => of(ear.heard, reply.id).at(-1)?.data.data.meta?.done);
    const types = of(ear.heard, reply.id).map(({ data }) => data.type);
    expect(types[0]).toBe('message');
    expect(types.filter((type) => type === 'message:update')).toHaveLength(1);
    const [placeholder] = of(ear.heard, reply.id);
    expect(placeholder?.data.data).toMatchObject({ content: '', meta: { done: false } });
    ear.close();
  });

  it.each([
    ['the longest known id', 'ask @small:large.', ['small:large']],
    ['an id before punctuation', '(@small), please', ['small']],
    ['an id with a slash at the end of a sentence', 'What says @other/model-1.5?', ['other/model-1.5']],
    [
      'a token, with or without a label',
      '<@M:small|Small one> <@M:other/model-1.5>',
      ['small', 'other/model-1.5'],
    ],
    ['a model only once', '@small @small <@M:small>', ['small']],
    ['no model by the beginning of another id', '@small-er @smaller small', []],
    ['no model by an e-mail address', 'mail ann@small', []],
  ])('%s', async (_, text, expected) => {
    const { id, meta } = await desk.post(text);
    const called = (meta.mentions ?? []).map(({ model_id }: { model_id: string }) => model_id);
    expect(called).toEqual(expected);
    const answers = expected.length > 0 ? await desk.answers(id, expected.length) : [];
    expect(answers.map(({ meta }) => meta.model_id).sort()).toEqual(expected.toSorted());
  });

  it('by a reply to a message of the model', async () => {
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    await desk.post('And now?', { parent_id: id, reply_to_id: reply.id });
    const answers = await desk.answers(id, 2);
    expect(answers[1].meta).toMatchObject({ model_id: 'small', done: true });
  });

  it('by a reply to a long message of the model', async () => {
    provider.script((_request, wire) => wire.say('long '.repeat(2_000)));
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    await desk.post('Shorter!', { parent_id: id, reply_to_id: reply.id });
    expect(await desk.answers(id, 2)).toHaveLength(2);
  });

  it('unless the model is unknown or forbidden: both are named in the same way', async () => {
    await server.as(root)('POST /models/create', {
      id: 'secret',
      name: 'Secret',
      base_model_id: 'small',
      meta: {},
      params: {},
    });
    const before = provider.chats().length;
    const message = await desk.post('<@M:secret|x> <@M:unknown> @secret');
    expect(message.meta.mentions).toEqual([
      { model_id: 'secret', resolved: false },
      { model_id: 'unknown', resolved: false },
    ]);
    expect(message.reply_count).toBe(0);
    expect(provider.chats().length).toBe(before);
  });

  it('never by a webhook or an edit, and clients cannot write what the server says about it', async () => {
    const message = await desk.post('hello', { meta: { mentions: [1], done: true, own: 1 } });
    expect(message.meta).toEqual({ own: 1 });
    await server.as(ann)(`POST ${at}/${message.id}/update`, { content: 'hello @small' });
    const hook = await server.as(root)(`POST /channels/${channelId}/webhooks/create`, { name: 'Hook' });
    const { id, token } = hook.body;
    const posted = await server.call(`POST /channels/webhooks/${id}/${token}`, {
      body: { content: '@small' },
    });
    expect(posted.status).toBe(200);
    const later = await desk.post('@small');
    await desk.answers(later.id);
    expect((await desk.get(message.id)).reply_count).toBe(0);
  });

  it('side by side with other models', async () => {
    const both = gate();
    let waiting = 0;
    provider.script(async (request, wire) => {
      waiting += 1;
      if (waiting === 2) both.open();
      await both.opened;
      wire.say(`I am ${request.body.model}`);
    });
    const { id } = await desk.post('@small @other/model-1.5');
    const answers = await desk.answers(id, 2);
    expect(answers.map(({ content }) => content).sort()).toEqual(['I am other/model-1.5', 'I am small']);
  });

  it('once for a repeated post', async () => {
    const post = { temp_id: 'again', content: '@small' };
    const first = await server.as(ann)(`POST ${at}/post`, post);
    const second = await server.as(ann)(`POST ${at}/post`, post);
    expect(second.body.id).toBe(first.body.id);
    await desk.answers(first.body.id);
    expect((await desk.get(first.body.id)).reply_count).toBe(1);
  });

  it('in turn: a reply that waits is stopped at once, and counted', async () => {
    const hold = gate();
    provider.script(async (_request, wire) => {
      await hold.opened;
      wire.say('Done.');
    });
    const before = provider.chats().length;
    // One person has at most 20 replies at a time.
    const running = [];
    for (let n = 0; n < 20; n += 1) running.push(await desk.post('@small'));
    await until('20 calls', () => provider.chats().length === before + 20);
    const { id } = await desk.post('@small');
    const [reply] = await desk.replies(id);
    expect((await server.as(ann)(`POST ${at}/${reply.id}/stop`)).body).toBe(true);
    expect((await desk.get(reply.id)).meta).toMatchObject({ done: true, stopped: true });
    const metrics = await scrape(server.url, root.token);
    expect(metrics.value('parley_replies_total', { outcome: 'stopped', kind: '', connection: '' })).toBe(1);
    hold.open();
    for (const { id: called } of running) await desk.answers(called);
  });

  it('in the main line where the configuration says so', async () => {
    await server.as(root)('POST /configs/import', await modeOf('channel'));
    const message = await desk.post('@small');
    const reply = await until('the answer', async () => {
      const { body } = await server.as(ann)(`GET ${at}`);
      return body.find(
        (one: { reply_to_id: string; meta: { done: boolean } }) =>
          one.reply_to_id === message.id && one.meta.done,
      );
    });
    expect(reply).toMatchObject({ parent_id: null, content: 'Hello from small.' });
    await server.as(root)('POST /configs/import', await modeOf('thread'));
  });

  async function modeOf(mode: string) {
    const { body } = await server.as(root)('GET /configs/export');
    body.channels.model_response_mode = mode;
    return body;
  }
});

describe('models', () => {
  it('call other models, within the chain that a person began', async () => {
    provider.script((request, wire) =>
      wire.say(request.body.model === 'small' ? 'Ask @other/model-1.5 or @small.' : 'No, ask @small!'),
    );
    const { id } = await desk.post('@small');
    const answers = await desk.answers(id, 3);
    expect(answers.map(({ meta }) => meta.model_id)).toEqual(['small', 'other/model-1.5', 'small']);
    expect(answers[0].meta.mentions).toEqual([
      { model_id: 'other/model-1.5', model_name: 'other/model-1.5', resolved: true },
    ]);
    expect(answers[2].meta.mentions).toBeUndefined();
    expect(answers.every(({ user_id }) => user_id === ann.id)).toBe(true);
  });

  it('call no others where the configuration says so', async () => {
    const { body } = await server.as(root)('GET /configs/export');
    const configure = (model_chain: number) =>
      server.as(root)('POST /configs/import', { ...body, channels: { ...body.channels, model_chain } });
    await configure(1);
    provider.script((_request, wire) => wire.say('Ask @other/model-1.5.'));
    const { id } = await desk.post('@small');
    const [answer] = await desk.answers(id);
    expect(answer.meta.mentions).toBeUndefined();
    expect((await desk.get(id)).reply_count).toBe(1);
    await configure(3);
  });

  it('hear the thread: authors by name, their own words as theirs, labels in place of tokens', async () => {
    const { id } = await desk.post('What is the capital of France, <@M:small|Small>?');
    await desk.answers(id);
    await desk.post('I know it', { parent_id: id }, bob);
    await desk.post('@small Go on', { parent_id: id });
    await desk.answers(id, 2);
    const { messages } = provider.chats().at(-1)?.body ?? {};
    expect(messages[0].role).toBe('system');
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'Ann: What is the capital of France, @Small?' },
      { role: 'assistant', content: 'Hello from small.' },
      { role: 'user', content: 'Bob: I know it\n\nAnn: @small Go on' },
    ]);
  });

  it('hear in the main line what was said before', async () => {
    await desk.post('The code word is plum.', {}, bob);
    const { id } = await desk.post('@small What is the code word?');
    await desk.answers(id);
    const { messages } = provider.chats().at(-1)?.body ?? {};
    expect(messages.at(-1).content).toMatch(
      /Bob: The code word is plum\.\n\nAnn: @small What is the code word\?$/,
    );
  });
});
