import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { connectProvider } from '../support/provider.ts';
import { recordStatements } from '../support/statements.ts';
import { configure, gate, type Heard, listen, of, openDesk, subscribe } from './desk.ts';

const desk = await openDesk();
const { provider, root, ann, bob, server, channelId } = desk;
afterAll(() => desk.close());
beforeEach(() => provider.script((_request, wire) => wire.say('Hello.')));

const at = `/channels/${channelId}/messages`;
const asRoot = server.as(root);
const stop = (messageId: string, as = ann) => server.as(as)(`POST ${at}/${messageId}/stop`);

/** The rule of docs/events.md. @returns the text; undefined if the message must be read again */
function grow(text: string, { data }: Heard): string | undefined {
  if (data.type !== 'message:delta') return data.data.content;
  const { offset, content } = data.data;
  return offset > text.length ? undefined : text.slice(0, offset) + content;
}

/** A script that writes one piece at each call of `say`, and then ends. */
function dictate() {
  const pieces: string[] = [];
  let isOver = false;
  provider.script(async (request, wire) => {
    wire.delta({ role: 'assistant', content: '' });
    await until('the end', () => {
      for (const piece of pieces.splice(0)) wire.delta({ content: piece });
      return isOver || request.isCut;
    });
    wire.finish();
  });
  return {
    say: (piece: string) => void pieces.push(piece),
    end: () => {
      isOver = true;
    },
  };
}

/** A reply that has begun and does not end by itself. */
async function beginReply(modelId = 'small') {
  const model = dictate();
  model.say('It began');
  const { id } = await desk.post(`@${modelId}`);
  const [reply] = await desk.replies(id);
  const ear = await listen(server, bob);
  await until('the first delta', () => {
    model.say('.');
    return of(ear.heard, reply.id).length > 0;
  });
  ear.close();
  const chat = provider.chats().at(-1);
  if (!chat) throw new Error('The provider was not called.');
  return { id, reply, model, chat };
}

describe('the text of a reply', () => {
  it.each([
    ['Socket.IO', listen],
    ['the tRPC subscription', subscribe],
  ])('grows by deltas over %s, never by half a character, and ends with one update', async (_, connect) => {
    const ear = await connect(server, bob);
    const model = dictate();
    const { id } = await desk.post('@small');
    const [{ id: replyId }] = await desk.replies(id);
    const deltas = () => of(ear.heard, replyId).filter(({ data }) => data.type === 'message:delta');
    const whole = 'Fir 🌲 and 👩‍👩‍👧 and more.';
    let said = '';
    for (const unit of whole.split('')) {
      model.say(unit);
      said += unit;
      const isWord = unit === ' ';
      if (isWord) await until('the word', () => deltas().at(-1)?.data.data.content === said);
    }
    model.end();
    await until('the update', () => of(ear.heard, replyId).at(-1)?.data.type === 'message:update');
    let text = '';
    for (const told of of(ear.heard, replyId)) {
      text = grow(text, told) ?? expect.fail('a delta was lost');
      expect(text.isWellFormed()).toBe(true);
      expect(whole.startsWith(text)).toBe(true);
    }
    expect(text).toBe(whole);
    expect(deltas().length).toBeGreaterThan(3);
    expect(deltas()[0]?.data.data).toEqual({ offset: 0, content: expect.any(String) });
    expect((await desk.get(replyId)).content).toBe(whole);
    ear.close();
  });

  it('continues for a client that comes late and reads the message once', async () => {
    const model = dictate();
    const { id } = await desk.post('@small');
    const [{ id: replyId }] = await desk.replies(id);
    // The pieces come until some of them are saved.
    let said = 0;
    const count = setInterval(() => {
      said += 1;
      model.say(`${said} `);
    }, 20);
    const saved = await until('a save', async () => (await desk.get(replyId)).content);
    const ear = await listen(server, bob);
    let text = (await desk.get(replyId)).content as string;
    expect(text.startsWith(saved)).toBe(true);
    await until('more deltas', () => of(ear.heard, replyId).length > 15);
    clearInterval(count);
    for (const told of of(ear.heard, replyId)) text = grow(text, told) ?? expect.fail('the text has a hole');
    expect(text.trim().split(' ')).toEqual(
      text
        .trim()
        .split(' ')
        .map((_, n) => String(n + 1)),
    );
    model.end();
    await desk.answers(id);
    ear.close();
  });

  it('costs no statement for a token, and few notices', async () => {
    const ear = await listen(server, bob);
    const hold = gate();
    provider.script(async (_request, wire) => {
      wire.delta({ content: 'first' });
      await hold.opened;
      for (let n = 0; n < 500; n += 1) wire.delta({ content: ` ${n}` });
      wire.finish();
    });
    const { id } = await desk.post('@small');
    const [{ id: replyId }] = await desk.replies(id);
    await until('the first token', () => of(ear.heard, replyId).length > 0);
    const statements = await recordStatements(async () => {
      hold.open();
      await until('the end', () => of(ear.heard, replyId).at(-1)?.data.data.meta?.done);
    });
    expect(statements.length).toBeLessThan(25);
    expect(of(ear.heard, replyId).length).toBeLessThan(50);
    ear.close();
  });

  it('takes 23 statements from the post to the end, beside looks of the server and its job', async () => {
    const ear = await listen(server, bob);
    provider.script((_request, wire) => wire.say('Four.'));
    const statements = await recordStatements(async () => {
      await desk.post('@small');
      await until('the end', () => ear.heard.some(({ data }) => data.data?.meta?.done));
    });
    // Three for the post, six for the placeholder, six to call the model and eight to store the end.
    // Two more may be looks of the server that happen to fall into the time: the positions of the hub, what sessions were seen.
    const own = statements.filter((text) => !text.includes('graphile_worker'));
    expect(own.length).toBeGreaterThanOrEqual(23);
    expect(own.length).toBeLessThanOrEqual(25);
    ear.close();
  });

  it('is not longer than a message may be', async () => {
    provider.script((_request, wire) => {
      for (let n = 0; n < 200; n += 1) wire.delta({ content: 'ä'.repeat(500) });
      wire.finish();
    });
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    const { content } = await desk.get(reply.id);
    expect(Buffer.byteLength(content)).toBe(64 * 1024);
    expect(reply.meta.error).toMatchObject({ code: 'reply_too_long' });
  });

  it.each([
    ['its own name', ['sm', 'all', ': ', 'Hel', 'lo.'], 'Hello.'],
    ['the name of the person', [' Ann:', ' Hello.'], 'Hello.'],
    ['part of a name', ['An', 'd then: Hello.'], 'And then: Hello.'],
    ['nothing but a part of a name', ['An'], 'An'],
  ])('does not begin with a name that the model imitates: %s', async (_, pieces, expected) => {
    provider.script((_request, wire) => {
      for (const content of pieces) wire.delta({ content });
      wire.finish();
    });
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply.content).toBe(expected);
  });

  it('is apart from the reasoning', async () => {
    const ear = await listen(server, bob);
    provider.script((_request, wire) => {
      wire.delta({ reasoning_content: 'Hm, ' });
      wire.delta({ reasoning_content: 'easy.' });
      wire.say('Four.');
    });
    const { id } = await desk.post('@small 2 + 2?');
    const [reply] = await desk.answers(id);
    expect(reply).toMatchObject({ content: 'Four.', data: { reasoning: 'Hm, easy.' } });
    const [first] = of(ear.heard, reply.id).filter(({ data }) => data.type === 'message:delta');
    expect(first?.data.data.reasoning).toEqual({ offset: 0, content: expect.stringMatching(/^Hm, /) });
    ear.close();
  });
});

describe('a reply ends with its text so far', () => {
  it.each([
    ['the person who called', ann],
    ['the owner of the channel', root],
  ])('when %s stops it; the connection to the provider closes', async (_, by) => {
    const { reply, chat, id } = await beginReply();
    expect((await stop(reply.id, by)).body).toBe(true);
    await chat.closed;
    expect(chat.isCut).toBe(true);
    const [stopped] = await desk.answers(id);
    expect(stopped.content).toMatch(/^It began/);
    expect(stopped.meta).toMatchObject({ done: true, stopped: true });
    expect((await stop(reply.id, by)).body).toBe(true);
  });

  it('and others cannot stop it, and it cannot be edited meanwhile', async () => {
    const { reply, model, id } = await beginReply();
    const edit = await server.as(ann)(`POST ${at}/${reply.id}/update`, { content: 'Mine' });
    expect(edit).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    const refused = await stop(reply.id, bob);
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await stop(id)).status).toBe(404);
    model.end();
    const [done] = await desk.answers(id);
    expect(done.meta.stopped).toBeUndefined();
  });

  it('when the message is deleted', async () => {
    const { reply, chat, id } = await beginReply();
    expect((await server.as(ann)(`DELETE ${at}/${reply.id}/delete`)).status).toBe(200);
    await chat.closed;
    expect((await desk.get(id)).reply_count).toBe(0);
  });

  it('when the channel is deleted', async () => {
    const { body: other } = await server.as(root)('POST /channels/create', { name: 'other' });
    dictate();
    const path = `/channels/${other.id}/messages`;
    const before = provider.chats().length;
    const { body: message } = await server.as(root)(`POST ${path}/post`, { content: '@small' });
    const chat = await until('the call', () => provider.chats()[before]);
    expect(chat.body.messages.at(-1).content).toBe('@small');
    await server.as(root)(`DELETE /channels/${other.id}/delete`);
    await chat.closed;
    expect(message.meta.mentions).toHaveLength(1);
  });

  it('when the person loses the right to write', async () => {
    const { chat, id } = await beginReply();
    const { body: channel } = await server.as(root)(`GET /channels/${channelId}`);
    const change = (access_grants: object[]) =>
      server.as(root)(`POST /channels/${channelId}/update`, { name: 'general', access_grants });
    await change(
      channel.access_grants.filter(({ principal_id }: { principal_id: string }) => principal_id !== ann.id),
    );
    await chat.closed;
    const [failed] = await desk.answers(id);
    expect(failed.meta.error).toMatchObject({ code: 'reply_not_allowed' });
    expect(failed.content).toMatch(/^It began/);
    await change(channel.access_grants);
  });

  it.each([
    [
      'the grant of its record',
      () => asRoot('POST /models/model/access/update', { id: 'team', access_grants: [] }),
    ],
    [
      'the grant of its base',
      () => asRoot('POST /models/model/access/update', { id: 'base', access_grants: [] }),
    ],
    ['its record, which is deleted', () => asRoot('POST /models/model/delete', { id: 'team' })],
    [
      'the model behind it, which is for administrators now',
      () => configure(server, root, ({ models }) => Object.assign(models, { open_provider_models: false })),
      'small',
    ],
  ])('when the person loses the right to the model: %s', async (_, lose, called = 'team') => {
    const access_grants = [grant(ann.id, 'read')];
    for (const [id, base_model_id] of [
      ['base', 'small'],
      ['team', 'base'],
    ])
      await asRoot('POST /models/create', {
        id,
        base_model_id,
        name: id,
        params: {},
        meta: {},
        access_grants,
      });
    const { chat, id } = await beginReply(called);
    await lose();
    await chat.closed;
    const [failed] = await desk.answers(id);
    expect(failed.meta.error).toMatchObject({ code: 'model_not_found' });
    expect(failed.content).toMatch(/^It began/);
    for (const id of ['team', 'base']) await asRoot('POST /models/model/delete', { id });
    await configure(server, root, ({ models }) => Object.assign(models, { open_provider_models: true }));
  });

  it('but not when its model changes and the person may still use it', async () => {
    const { model, id } = await beginReply();
    await asRoot('POST /models/create', {
      id: 'small',
      name: 'Small',
      params: {},
      meta: {},
      access_grants: [grant(ann.id, 'read')],
    });
    model.say(' and went on');
    await until('the rest', async () => (await desk.replies(id))[0].content.includes('and went on'));
    model.end();
    const [done] = await desk.answers(id);
    expect(done.meta.error).toBeUndefined();
    await asRoot('POST /models/model/delete', { id: 'small' });
  });
});

describe('a provider that fails', () => {
  it.each([
    ['refuses', 500, 'provider_failed'],
    ['has too many calls', 429, undefined],
  ])('and %s: the reply says why', async (_, status, code) => {
    provider.script((_request, wire) => wire.json(status, { error: { message: 'No.' } }));
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply.meta.error).toMatchObject({ code: code ?? expect.any(String) });
    expect(reply.content).toBe(reply.meta.error.message);
    expect(reply.content).not.toBe('');
  });

  it.each([
    [
      'an error after the beginning',
      (wire: { line(data: string): void; end(): void }) => {
        wire.line('{"error": {"message": "Overloaded."}}');
        wire.end();
      },
    ],
    ['a cut connection', (wire: { cut(): void }) => wire.cut()],
    [
      'chunks that are no JSON',
      (wire: { line(data: string): void; end(): void }) => {
        wire.line('{"choices": [');
        wire.end();
      },
    ],
  ])('with %s: the text so far stays', async (_, fail) => {
    provider.script(async (_request, wire) => {
      wire.delta({ content: 'So far' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      fail(wire);
    });
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply.content).toBe('So far');
    expect(reply.meta.error).toMatchObject({ code: 'provider_failed', message: expect.stringMatching(/\w/) });
  });

  it.each([
    ['before', undefined],
    ['in the middle of', 'So far'],
  ])('and hangs %s its answer: the reply ends at the limit of the connection', async (_, said) => {
    await connectProvider(server, root, provider, { first_token_seconds: 1, between_tokens_seconds: 1 });
    provider.script((_request, wire) => {
      if (said) wire.delta({ content: said });
    });
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply.meta.error).toMatchObject({ code: 'provider_timeout' });
    expect(reply.content).toBe(said ?? reply.meta.error.message);
    await connectProvider(server, root, provider);
  });

  it('and says what no text can hold: the model is called once, and the reply ends', async () => {
    const before = provider.chats().length;
    provider.script((_request, wire) => wire.json(500, { error: { message: 'Bad \u0000 words' } }));
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply.content).toBe('Provider 1 answered 500: Bad words');
    expect(provider.chats().length - before).toBe(1);
  });

  it('with nothing at all: the reply says so, and the metrics count it', async () => {
    provider.script((_request, wire) => wire.finish());
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply).toMatchObject({
      content: 'The model sent no text.',
      meta: { error: { code: 'reply_empty', message: 'The model sent no text.' } },
    });
    const metrics = await scrape(server.url, root.token);
    const labels = { outcome: 'reply_empty', kind: 'openai', connection: 'Provider 1' };
    expect(metrics.value('parley_replies_total', labels)).toBe(1);
    // These are counted for the connection that failed.
    const failed = { ...labels, outcome: 'provider_timeout' };
    expect(metrics.value('parley_replies_total', failed)).toBe(2);
    await until(
      'the end of the job',
      async () => (await scrape(server.url, root.token)).value('parley_replies_running') === 0,
    );
  });
});

describe('text of a model', () => {
  it('is stored as it is and starts nothing', async () => {
    const evil = '<script>alert(1)</script> {"type":"execute"} https://example.com/x.png @channel @Ann\u0000';
    provider.script((_request, wire) => {
      wire.chunk({ type: 'execute', data: { code: '1' }, choices: [{ index: 0, delta: { content: evil } }] });
      wire.finish();
    });
    const ear = await listen(server, ann);
    const { id } = await desk.post('@small');
    const [reply] = await desk.answers(id);
    expect(reply.content).toBe(evil.replace('\0', ''));
    const mentions = await server.database.query('select 1 from message_mention where message_id = $1', [
      reply.id,
    ]);
    expect(mentions).toEqual([]);
    const types = new Set(of(ear.heard, reply.id).map(({ data }) => data.type));
    for (const type of types)
      expect(['message', 'message:reply', 'message:delta', 'message:update']).toContain(type);
    ear.close();
  });
});

describe('models are called', () => {
  it('by members only where a grant or a setting allows it', async () => {
    await configure(server, root, (config) => {
      config.models.open_provider_models = false;
    });
    const { meta } = await desk.post('<@M:small>');
    expect(meta.mentions).toEqual([{ model_id: 'small', resolved: false }]);
  });
});
