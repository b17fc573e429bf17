import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { recordStatements } from '../support/statements.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

/** One message of every kind; the first has a thread. */
async function fill(): Promise<string> {
  const root = await board.post({ content: 'root', data: { files: [] }, meta: { a: { b: [1] } } });
  await board.post({ content: 'quoting reply', parent_id: root.id, reply_to_id: root.id });
  const gone = await board.post({ content: 'gone' });
  await board.post({ content: 'reply', parent_id: gone.id });
  await board.remove(gone.id);
  await board.post({ content: 'quoting', reply_to_id: root.id });
  for (const name of ['👍', '🎉']) {
    await board.react(root.id, name);
    await board.react(root.id, name, board.owner);
  }
  await board.pin(root.id);
  const { id } = await board.post({ content: 'by a program' });
  const reply = await board.post({ content: 'orphan' });
  const { query } = board.server.database;
  const webhook = '018f0000-0000-7000-8000-00000000000a';
  await query("update message set author_type = 'webhook', author_id = $1 where id = $2", [webhook, id]);
  // A deleted account.
  await query('update message set user_id = $1 where id = $2', [webhook, reply.id]);
  return root.id;
}

describe('a message of a list', () => {
  it.each(['', '/pinned', '/thread'])('equals the message that is read alone: %s', async (path) => {
    const rootId = await fill();
    const listed = await board.list(path === '/thread' ? `/${rootId}/thread` : path);
    expect(listed.length).toBeGreaterThan(0);
    for (const message of listed) expect(message).toEqual(await board.get(message.id));
  });
});

describe('the author', () => {
  it('of a webhook message is the webhook with its current name, or none after its deletion', async () => {
    const { id } = await board.post({ content: 'x' });
    const quoting = await board.post({ content: 'y', reply_to_id: id });
    const webhook = '018f0000-0000-7000-8000-00000000000b';
    const { query } = board.server.database;
    await query(
      `insert into channel_webhook (id, channel_id, user_id, name, token, created_at, updated_at)
       values ($1, $2, $3, 'Build', 'x', 1, 1)`,
      [webhook, board.channelId, board.owner.id],
    );
    await query("update message set author_type = 'webhook', author_id = $1 where id = $2", [webhook, id]);
    const author = async () => [
      (await board.get(id)).user,
      (await board.get(quoting.id)).reply_to_message.user,
    ];
    const build = { id: webhook, name: 'Build', role: 'webhook' };
    expect(await author()).toEqual([build, build]);
    await query(`update channel_webhook set name = 'Release' where id = $1`, [webhook]);
    expect(await author()).toEqual([
      { ...build, name: 'Release' },
      { ...build, name: 'Release' },
    ]);
    await query('delete from channel_webhook where id = $1', [webhook]);
    const deleted = { ...build, name: 'Deleted Webhook' };
    expect(await author()).toEqual([deleted, deleted]);
    expect((await board.pin(id)).body.user).toEqual(deleted);
  });
});

describe('the number of statements', () => {
  it('is one for each read of a page with any content', async () => {
    const rootId = await fill();
    for (const path of ['', '/pinned', `/${rootId}`, `/${rootId}/data`, `/${rootId}/thread`]) {
      await board.list(path);
      const statements = await recordStatements(() => board.list(path));
      expect([path, statements.length]).toEqual([path, 1]);
    }
  });
});

describe('the data of a message', () => {
  it('is the object only, without files when there are none', async () => {
    const dataOf = async (id: string) => board.attempt('GET', `/${id}/data`);
    const { id } = await board.post({ content: 'x', data: { files: [], a: { b: 1 } } });
    expect(await dataOf(id)).toMatchObject({ status: 200, body: { files: [], a: { b: 1 } } });
    const plain = await board.post({ content: 'x' });
    expect((await dataOf(plain.id)).body).toEqual({ files: [] });
    await board.remove(id);
    expect(await dataOf(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('a page of large messages', () => {
  const KIB = 1024;
  const large = (mark: string) => ({
    content: mark + 'x'.repeat(64 * KIB - 1),
    data: { text: 'd'.repeat(250 * KIB) },
    meta: { text: 'm'.repeat(250 * KIB), kind: 'a' },
  });

  it('is complete in number and order, with abridged messages beyond its budget', async () => {
    const small = await board.post({ content: 'small', meta: { kind: 'b' } });
    for (let n = 0; n < 10; n += 1) await board.post(large(String(n)));
    const text = await (
      await fetch(`${board.server.url}/api/v1${board.at('')}`, {
        headers: { authorization: `Bearer ${board.writer.token}` },
      })
    ).text();
    expect(Buffer.byteLength(text)).toBeLessThan(5 * KIB * KIB);
    const page = JSON.parse(text);
    expect(page.map(({ content }: { content: string }) => content[0]).join('')).toBe('9876543210s');
    // 564 KiB each: seven fit into 4 MiB.
    const isAbridged = page.map(({ meta }: { meta: { abridged?: boolean } }) => meta.abridged === true);
    expect(isAbridged).toEqual([...Array(7).fill(false), ...Array(3).fill(true), false]);
    expect(page[8]).toMatchObject({ content: `1${'x'.repeat(999)}`, data: {}, meta: { abridged: true } });
    expect(page[10]).toEqual(await board.get(small.id));
    expect(await board.get(page[8].id)).toMatchObject(large('1'));
    expect((await board.list('?skip=8&limit=1'))[0]).toMatchObject(large('1'));
  });

  it('counts quotes to the budget, and abridges them too', async () => {
    const quoted = await board.post(large('q'));
    for (let n = 0; n < 9; n += 1) await board.post({ content: String(n), reply_to_id: quoted.id });
    const page = await board.list();
    const last = page[8];
    expect(last).toMatchObject({ content: '0', meta: { abridged: true } });
    expect(last.reply_to_message).toMatchObject({ data: {}, meta: { abridged: true } });
    expect(last.reply_to_message.content).toHaveLength(1000);
  });
});
