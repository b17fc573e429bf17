import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { openCalls } from '../support/sockets.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

/** Members that only the service sets. */
const CLAIMS = {
  meta: {
    model_id: 'gpt',
    model_name: 'GPT',
    done: false,
    usage: { total_tokens: 1 },
    error: 'no',
    webhook: { id: '018f0000-0000-7000-8000-000000000000' },
    abridged: true,
    deleted: true,
  },
  data: { tool_calls: [{ name: 'rm' }] },
};
const OWN = { meta: { mine: 1, nested: { model_id: 'kept' } }, data: { files: [], mine: [2] } };
const claiming = (content: string) => ({
  content,
  meta: { ...CLAIMS.meta, ...OWN.meta },
  data: { ...CLAIMS.data, ...OWN.data },
});

interface Sent {
  content: string;
  /** The message to edit; a post without it. */
  message_id?: string;
}
type Send = (sent: Sent) => Promise<number>;

/** Posts or edits as the writer, at each door. */
const DOORS: [string, Send][] = [
  [
    'REST',
    async ({ message_id, ...body }) =>
      (await board.attempt('POST', message_id ? `/${message_id}/update` : '/post', body)).status,
  ],
  [
    'tRPC over HTTP',
    async (sent) => {
      const headers = { authorization: `Bearer ${board.writer.token}`, 'content-type': 'application/json' };
      const url = `${board.server.url}/trpc/messages.${sent.message_id ? 'update' : 'post'}`;
      const body = JSON.stringify({ id: board.channelId, ...sent });
      return (await fetch(url, { method: 'POST', headers, body })).status;
    },
  ],
  [
    'tRPC over a socket',
    async (sent) => {
      const calls = openCalls(board.server.url, board.writer.token);
      const path = `messages.${sent.message_id ? 'update' : 'post'}`;
      const status = await calls.call('mutation', path, { id: board.channelId, ...sent });
      calls.close();
      return status;
    },
  ],
];

describe.each(DOORS)('members that only the service sets, sent by a person by %s', (_door, send) => {
  it('are removed from a post, and other members stay', async () => {
    expect(await send(claiming('x'))).toBe(200);
    const [message] = await board.list();
    expect(message).toMatchObject({ content: 'x', user: { name: 'Writer' } });
    expect([message.meta, message.data]).toEqual([OWN.meta, OWN.data]);
    expect((await board.log())[0]?.data).toMatchObject({ meta: OWN.meta });
  });

  it('are removed from an edit, which neither changes nor deletes the values of the service', async () => {
    const { id } = await board.post({ content: 'by a model' });
    const said = { meta: { model_id: 'real', model_name: 'Real', done: true }, data: { tool_calls: [1] } };
    const write = 'update message set meta = $2, data = $3 where id = $1';
    await board.server.database.query(write, [id, said.meta, said.data]);
    const cleared = Object.fromEntries(Object.keys(CLAIMS.meta).map((name) => [name, null]));
    for (const edit of [claiming('1'), { content: '2', meta: cleared, data: { tool_calls: null } }]) {
      expect(await send({ message_id: id, ...edit })).toBe(200);
    }
    const { content, meta, data } = await board.get(id);
    expect([content, meta, data]).toEqual([
      '2',
      { ...said.meta, ...OWN.meta },
      { ...said.data, ...OWN.data },
    ]);
  });
});

it('removed members are named, together with unknown ones', async () => {
  const { headers } = await board.send({ ...claiming('x'), colour: 'red' });
  const named = (headers.get('x-ignored-members') ?? '').split(', ');
  const expected = ['colour', 'data.tool_calls', ...Object.keys(CLAIMS.meta).map((name) => `meta.${name}`)];
  expect(named.toSorted()).toEqual(expected.toSorted());
  const { headers: plain } = await board.send({ content: 'x', ...OWN });
  expect(plain.get('x-ignored-members')).toBeNull();
});

it('a message of a program stays one when a writer sends back what they read in an edit', async () => {
  const at = `/channels/${board.channelId}/webhooks`;
  const { token } = board.owner;
  const { body: webhook } = await board.server.call(`POST ${at}/create`, { token, body: { name: 'Build' } });
  const posted = await board.server.call(`POST /channels/webhooks/${webhook.id}/${webhook.token}`, {
    body: { content: 'red', meta: CLAIMS.meta },
  });
  expect(posted).toMatchObject({ status: 200 });
  const [message] = await board.list();
  expect(message.meta).toEqual({ webhook: { id: webhook.id } });
  const edit = { content: 'green', data: message.data, meta: { ...message.meta, seen: true } };
  expect(await board.edit(message.id, edit)).toMatchObject({ status: 200 });
  expect(await board.edit(message.id, { content: 'green', meta: { webhook: null } })).toMatchObject({
    status: 200,
  });
  expect(await board.get(message.id)).toMatchObject({
    content: 'green',
    meta: { webhook: { id: webhook.id }, seen: true },
    user: { id: webhook.id, name: 'Build', role: 'webhook' },
  });
});
