import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { startTestPython } from '../support/python.ts';
import type { Person } from '../support/server.ts';
import { askingTool, type Heard, listen, of, openDesk, subscribe } from './desk.ts';

const python = await startTestPython({ askTimeoutMs: 8_000 });
const desk = await openDesk(['small'], { python });
const { root, ann, bob, server, channelId, provider } = desk;
afterAll(async () => {
  await desk.close();
  await python.close();
});
await askingTool(desk);

const at = `/channels/${channelId}/messages`;
const questionsOf = async (person: Person) => (await server.as(person)('GET /channels/questions')).body;
const answer = (person: Person, messageId: string, question_id: string, given: unknown) =>
  server.as(person)(`POST ${at}/${messageId}/answer`, { question_id, answer: given });

/** The model calls this function of the tool, and then repeats the result. */
function callOnce(name: string): void {
  provider.script((request, wire) => {
    const results = request.body.messages.filter(({ role }: { role: string }) => role === 'tool');
    if (results.length === 0) wire.call({ name, arguments: {} });
    else wire.say(results[0].content);
  });
}

/** Ann has the model call a function that asks. @returns the reply and the question */
async function ask(name: string) {
  callOnce(name);
  const { id: root_id } = await desk.post('@asker');
  const [reply] = await desk.replies(root_id);
  const question = await until('the question', async () =>
    (await questionsOf(ann)).find(({ message_id }: { message_id: string }) => message_id === reply.id),
  );
  return { question, reply, ended: () => desk.answers(root_id).then(([ended]) => ended) };
}

const types = (heard: readonly Heard[], messageId: string) =>
  of(heard, messageId).map(({ data }) => data.type);

describe('a tool that a model calls asks the person who called the model', () => {
  it('on all connections of that person alone, at both doors, until the first answer', async () => {
    const ears = { socket: await listen(server, ann), stream: await subscribe(server, ann) };
    const other = await listen(server, bob);
    const { question, reply, ended } = await ask('confirm');
    expect(question).toMatchObject({
      channel_id: channelId,
      tool_id: 'asker',
      function: 'confirm',
      model_name: 'The asker',
      kind: 'confirmation',
      title: 'Deploy?',
      message: '',
      is_secret: false,
    });
    expect(question.ends_at).toBeGreaterThan(Date.now() / 1000);
    for (const { heard } of Object.values(ears)) {
      const notice = await until('the notice', () =>
        of(heard, reply.id).find(({ data }) => data.type === 'message:ask'),
      );
      expect(notice.data.data).toEqual(question);
    }
    await until('the mark of the call', () =>
      of(other.heard, reply.id).some(({ data }) => data.data.tool_calls?.[0]?.awaits_answer),
    );

    expect((await answer(bob, reply.id, question.id, true)).status).toBe(404);
    expect((await answer(root, reply.id, question.id, true)).status).toBe(404);
    expect((await answer(ann, reply.id, question.id, 'yes')).status).toBe(400);
    expect(await answer(ann, reply.id, question.id, true)).toMatchObject({ status: 200, body: true });
    expect(await ended()).toMatchObject({
      content: 'Confirmed: True',
      data: { tool_calls: [{ status: 'done', awaits_answer: false }] },
    });
    expect((await answer(ann, reply.id, question.id, true)).status).toBe(404);
    expect(await questionsOf(ann)).toEqual([]);
    for (const { heard, close } of Object.values(ears)) {
      await until('the end', () => types(heard, reply.id).includes('message:ask:done'));
      close();
    }
    expect(types(other.heard, reply.id)).not.toContain('message:ask');
    other.close();
  });

  it('for a text, of which the first of two answers at once counts', async () => {
    const { question, reply, ended } = await ask('secret');
    expect(question).toMatchObject({ kind: 'input', is_secret: true, placeholder: 'swordfish' });
    const given = ['one', 'two'];
    const answers = await Promise.all(given.map((each) => answer(ann, reply.id, question.id, each)));
    const taken = answers.findIndex(({ status }) => status === 200);
    expect(answers[1 - taken]?.status).toBe(404);
    expect((await ended()).content).toBe(`Given: ${given[taken]}`);
  });

  it('until the reply is stopped', async () => {
    const ear = await listen(server, ann);
    const { question, reply, ended } = await ask('confirm');
    await server.as(ann)(`POST ${at}/${reply.id}/stop`);
    expect((await answer(ann, reply.id, question.id, true)).status).toBe(404);
    expect((await ended()).meta.stopped).toBe(true);
    await until('the end', () => types(ear.heard, reply.id).includes('message:ask:done'));
    expect(await questionsOf(ann)).toEqual([]);
    ear.close();
  });

  it('until another process has begun the reply again', async () => {
    const { question, reply } = await ask('confirm');
    await server.database.query('update model_reply set attempt = attempt + 1 where message_id = $1', [
      reply.id,
    ]);
    expect((await answer(ann, reply.id, question.id, true)).status).toBe(404);
    expect(await questionsOf(ann)).toEqual([]);
  });

  it('and goes on when the person never answers', async () => {
    const { ended } = await ask('confirm');
    expect(await ended()).toMatchObject({
      content: 'Refused: The person did not answer in time.',
      data: { tool_calls: [{ awaits_answer: false }] },
    });
  });
});

it('a tool that a model calls cannot run code in the page', async () => {
  callOnce('execute');
  const ear = await listen(server, ann);
  const { id } = await desk.post('@asker');
  const [reply] = await desk.answers(id);
  expect(reply.content).toContain('Refused: A person is asked with the type');
  expect(types(ear.heard, reply.id)).not.toContain('message:ask');
  ear.close();
});
