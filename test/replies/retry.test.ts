import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { gate, listen, openDesk } from './desk.ts';

const desk = await openDesk();
const { provider, ann, bob, root, server, channelId } = desk;
afterAll(() => desk.close());

const at = `/channels/${channelId}/messages`;
const retry = (messageId: string, as = ann) => server.as(as)(`POST ${at}/${messageId}/retry`);

/** A reply that failed after some text. */
async function fail() {
  provider.script((_request, wire) => {
    wire.delta({ content: 'Half' });
    wire.cut();
  });
  const { id } = await desk.post('@small hello');
  const [reply] = await desk.answers(id);
  expect(reply.meta.error).toBeDefined();
  return { id, reply };
}

describe('a reply that failed', () => {
  it('is written again in its place by the person who called the model', async () => {
    const { id, reply } = await fail();
    const { heard, close } = await listen(server, ann);
    const calls = provider.chats().length;
    let words = '';
    provider.script(async (_request, wire) => {
      await until('the words', () => words);
      wire.say(words);
    });
    expect(await retry(reply.id)).toMatchObject({ status: 200, body: true });
    expect(await retry(reply.id)).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    const emptied = await desk.get(reply.id);
    expect(emptied).toMatchObject({ content: '', meta: { model_id: 'small', done: false } });
    expect(emptied.meta.error).toBeUndefined();
    words = 'Whole.';
    const [again] = await desk.answers(id);
    expect(again).toMatchObject({ id: reply.id, content: 'Whole.', meta: { done: true } });
    expect(again.meta.error).toBeUndefined();
    expect(provider.chats().length).toBe(calls + 1);
    const updates = () => heard.filter(({ data }) => data.type === 'message:update');
    await until('both changes', () => updates().length === 2);
    expect(updates().map(({ data }) => [data.data.content, data.data.meta.done])).toEqual([
      ['', false],
      ['Whole.', true],
    ]);
    close();
  });

  it('shows no question of an attempt before, whose process was killed', async () => {
    const { id, reply } = await fail();
    const texts = {
      title: 'Old?',
      message: '',
      placeholder: '',
      value: '',
      kind: 'confirmation',
      is_secret: false,
    };
    const question = {
      call_id: 'call_0',
      tool_id: 'asker',
      function: 'confirm',
      model_name: 'Small',
      ...texts,
    };
    await server.database.query(
      `insert into reply_question (id, channel_id, message_id, attempt, user_id, question, ends_at)
       values (gen_random_uuid(), $1, $2, 1, $3, $4, extract(epoch from now())::int + 300)`,
      [channelId, reply.id, ann.id, JSON.stringify(question)],
    );
    const rest = gate();
    provider.script(async (_request, wire) => {
      wire.delta({ content: 'Whole' });
      await rest.opened;
      wire.say('.');
    });
    expect((await retry(reply.id)).status).toBe(200);
    await until('the text', async () => (await desk.get(reply.id)).content === 'Whole');
    expect((await server.as(ann)('GET /channels/questions')).body).toEqual([]);
    rest.open();
    expect((await desk.answers(id))[0].content).toBe('Whole.');
  });

  it('is not written again for others, nor a reply that succeeded, nor a message of a person', async () => {
    const { id, reply } = await fail();
    for (const other of [bob, root]) {
      expect(await retry(reply.id, other)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect((await retry(id)).status).toBe(404);
    provider.script((_request, wire) => wire.say('Whole.'));
    await retry(reply.id);
    await until('the reply', async () => (await desk.get(reply.id)).content === 'Whole.');
    expect((await retry(reply.id)).status).toBe(400);
  });
});

describe('a reply that was stopped', () => {
  it('is written again', async () => {
    provider.script((_request, wire) => wire.delta({ content: 'It began' }));
    const { id } = await desk.post('@small hello');
    const [reply] = await desk.replies(id);
    await until('a call', async () => (await desk.get(reply.id)).content !== '');
    await server.as(ann)(`POST ${at}/${reply.id}/stop`);
    await desk.answers(id);
    provider.script((_request, wire) => wire.say('Whole.'));
    expect((await retry(reply.id)).status).toBe(200);
    await until('the reply', async () => (await desk.get(reply.id)).content === 'Whole.');
    expect((await desk.get(reply.id)).meta.stopped).toBeUndefined();
  });
});
