import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { grant } from '../support/channels.ts';
import { type Person, signUpAs } from '../support/server.ts';

const board = await openBoard();
afterAll(() => board.close());
const other = await signUpAs(board.server, board.owner, 'Other', 'user');

beforeEach(async () => {
  await board.turnToNewChannel(grant(other.id, 'read'));
});

/** A read over REST with the tag of an earlier one. */
async function read(path: string, tag?: string | null, as: Person = board.writer) {
  const headers = { authorization: `Bearer ${as.token}`, ...(tag && { 'if-none-match': tag }) };
  const answer = await fetch(`${board.server.url}/api/v1${board.at(path)}`, { headers });
  return { status: answer.status, tag: answer.headers.get('etag'), text: await answer.text() };
}

describe('the newest page of a channel or thread', () => {
  it('has a tag, and is not sent again to a client that has it', async () => {
    const root = await board.post({ content: 'root' });
    await board.post({ content: 'reply', parent_id: root.id });
    for (const path of ['', `/${root.id}/thread`]) {
      const first = await read(path);
      expect(first).toMatchObject({ status: 200, tag: expect.stringMatching(/^".+"$/) });
      expect(await read(path)).toEqual(first);
      expect(await read(path, first.tag)).toEqual({ status: 304, tag: first.tag, text: '' });
      expect(await read(path, `"x", W/${first.tag}`)).toMatchObject({ status: 304 });
      expect(await read(path, '"x"')).toEqual(first);
      expect(await read(path, first.tag, other)).toMatchObject({ status: 304 });
    }
  });

  it('is read anew after each change', async () => {
    const message = await board.post({ content: 'first' });
    const tags = [(await read('')).tag];
    const changes = [
      () => board.post({ content: 'second' }),
      () => board.edit(message.id, { content: 'edited' }),
      () => board.react(message.id, '👍'),
      () => board.pin(message.id),
      () => board.post({ content: 'reply', parent_id: message.id }),
      () => board.remove(message.id),
    ];
    for (const change of changes) {
      await change();
      const { status, tag, text } = await read('', tags.at(-1));
      expect(status).toBe(200);
      expect(JSON.parse(text)).toEqual(await board.list('?limit=49'));
      tags.push(tag);
    }
    expect(new Set(tags).size).toBe(tags.length);
  });

  it('shows new names of people and webhooks at once', async () => {
    const { call } = board.server;
    const hook = await call(`POST /channels/${board.channelId}/webhooks/create`, {
      token: board.owner.token,
      body: { name: 'Build' },
    });
    await call(`POST /channels/webhooks/${hook.body.id}/${hook.body.token}`, { body: { content: 'done' } });
    await board.post({ content: 'by a person' }, board.owner);
    const names = async () => (await board.list()).map(({ user }: { user: { name: string } }) => user.name);
    expect(await names()).toEqual(['Owner', 'Build']);
    await call('POST /auths/update/profile', {
      token: board.owner.token,
      body: { name: 'Ann', profile_image_url: '' },
    });
    await call(`POST /channels/${board.channelId}/webhooks/${hook.body.id}/update`, {
      token: board.owner.token,
      body: { name: 'Release' },
    });
    expect(await names()).toEqual(['Ann', 'Release']);
  });

  it('loses the name of a deleted account at once', async () => {
    const { as } = board.server;
    const leaver = await signUpAs(board.server, board.owner, 'Leaver', 'user');
    await as(board.owner)(`POST /channels/${board.channelId}/update`, {
      name: 'open',
      access_grants: [board.writer, leaver].map(({ id }) => grant(id, 'write')),
    });
    await board.post({ content: 'bye' }, leaver);
    expect(await board.list()).toMatchObject([{ user: { name: 'Leaver' } }]);
    expect((await as(board.owner)(`DELETE /users/${leaver.id}`)).status).toBe(200);
    expect(await board.list()).toMatchObject([{ user: null }]);
  });

  it('is refused to people without the right, also while it is kept', async () => {
    await board.post({ content: 'secret' });
    const { tag } = await read('', null, other);
    await board.server.call(`POST /channels/${board.channelId}/update`, {
      token: board.owner.token,
      body: { name: 'closed', access_grants: [] },
    });
    expect(await read('', tag, other)).toMatchObject({ status: 403, tag: null });
    expect(await read('', tag)).toMatchObject({ status: 403, tag: null });
  });

  it('is not kept while a model writes in it', async () => {
    const { id } = await board.post({ content: 'Hm' });
    await board.server.database.query(`update message set meta = '{"done": false}' where id = $1`, [id]);
    await board.post({ content: 'after' });
    expect(await read('')).toMatchObject({ status: 200, tag: null });
    await board.server.database.query(`update message set content = 'Hm, well' where id = $1`, [id]);
    expect((await board.list())[1]).toMatchObject({ content: 'Hm, well' });
  });
});
