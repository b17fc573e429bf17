import { afterAll, describe, expect, it } from 'vitest';
import { scrape } from '../support/metrics.ts';
import { startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { startTestPython } from '../support/python.ts';
import { withoutRedis } from '../support/redis.ts';
import { signUp } from '../support/server.ts';
import { askingTool, listen, of } from './desk.ts';

describe.skipIf(withoutRedis)('two servers on one database', async () => {
  if (withoutRedis) return;
  const python = await startTestPython();
  const pair = await startPair({ python });
  const provider = await startProvider('small');
  afterAll(async () => {
    await pair.close();
    await provider.close();
    await python.close();
  });
  const root = await signUp(pair.here, 'Root');
  await connectProvider(pair.here, root, provider);
  const { body: channel } = await pair.here.as(root)('POST /channels/create', { name: 'general' });
  const at = `/channels/${channel.id}/messages`;

  it('pass on the text of a reply, and the stop of the server that does not write it', async () => {
    provider.script(async (request, wire) => {
      for (let n = 0; !request.isCut; n += 1) {
        wire.delta({ content: `${n} ` });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    const ears = { here: await listen(pair.here, root), there: await listen(pair.there, root) };
    await until('the model at the second server', async () => {
      const { body } = await pair.there.as(root)('GET /models');
      return body.data.length > 0;
    });
    const message = await pair.here.as(root)(`POST ${at}/post`, { content: '@small' });
    const chat = await until('the call', () => provider.chats().at(-1));
    const [reply] = await until('the reply', async () => {
      const { body } = await pair.here.as(root)(`GET ${at}/${message.body.id}/thread`);
      return body.length > 0 && body;
    });
    for (const { heard } of Object.values(ears))
      await until('a delta', () => of(heard, reply.id).some(({ data }) => data.type === 'message:delta'));

    const running = async (name: 'here' | 'there') =>
      (await scrape(pair[name].url, root.token)).value('parley_replies_running');
    const [here, there] = [await running('here'), await running('there')];
    expect(here + there).toBe(1);
    const other = here === 1 ? 'there' : 'here';
    await pair[other].as(root)(`POST ${at}/${reply.id}/stop`);
    await chat.closed;
    for (const { heard, close } of Object.values(ears)) {
      const last = await until('the update', () => {
        const told = of(heard, reply.id).at(-1);
        return told?.data.type === 'message:update' && told.data.data;
      });
      expect(last.meta).toMatchObject({ done: true, stopped: true });
      expect(last.content).toMatch(/^0 1 2 /);
      close();
    }
  });

  it('take the answer to a tool at the server that does not run it, once', async () => {
    await askingTool({ server: pair.here, root });
    provider.script((request, wire) => {
      const results = request.body.messages.filter(({ role }: { role: string }) => role === 'tool');
      if (results.length === 0) wire.call({ name: 'secret', arguments: {} });
      else wire.say(results[0].content);
    });
    const ears = { here: await listen(pair.here, root), there: await listen(pair.there, root) };
    await pair.here.as(root)(`POST ${at}/post`, { content: '@asker' });
    const heard = async ({ heard }: (typeof ears)['here'], type: string) =>
      until(type, () => heard.find(({ data }) => data.type === type));
    const { data } = await heard(ears.here, 'message:ask');
    expect((await heard(ears.there, 'message:ask')).data).toEqual(data);
    const { id: question_id, message_id } = data.data;

    const answer = (name: 'here' | 'there') =>
      pair[name].as(root)(`POST ${at}/${message_id}/answer`, { question_id, answer: name });
    const answers = await Promise.all([answer('here'), answer('there')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const taken = answers[0].status === 200 ? 'here' : 'there';
    const ended = await until('the end of the reply', async () => {
      const { body } = await pair.there.as(root)(`GET ${at}/${message_id}`);
      return body.meta.done && body;
    });
    expect(ended.content).toBe(`Given: ${taken}`);
    for (const ear of Object.values(ears)) {
      await heard(ear, 'message:ask:done');
      ear.close();
    }
  });
});
