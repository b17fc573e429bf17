import { afterAll, beforeEach, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';

/*
 * Events of a long message contain it whole when it is posted or its content changes. Other events contain a
 * short form: a hundred bytes that reply, react, pin or quote must not add half a megabyte to the log, and an
 * edit must not add all of it again.
 */

const board = await openBoard();
afterAll(() => board.close());
beforeEach(() => board.turnToNewChannel());

const LONG = {
  content: 'w'.repeat(60_000),
  data: { fill: 'd'.repeat(250_000) },
  meta: { m: 1, fill: 'm'.repeat(250_000) },
};
const BRIEF = { content: LONG.content.slice(0, 1000), data: {}, meta: { abridged: true } };

const last = async () => (await board.log()).at(-1);
const lengths = async () => (await board.log()).map(({ data }) => JSON.stringify(data).length);

it('events about a long message contain a short form, and the message stays unchanged', async () => {
  const { id } = await board.post(LONG);
  expect((await last())?.data).toMatchObject(LONG);

  await board.post({ content: 'reply', parent_id: id });
  expect(await last()).toMatchObject({ type: 'message:reply', data: { ...BRIEF, id, reply_count: 1 } });
  await board.react(id, '👍');
  expect((await last())?.data).toMatchObject({ ...BRIEF, reactions: [{ name: '👍', count: 1 }] });
  await board.unreact(id, '👍');
  expect((await last())?.data).toMatchObject({ ...BRIEF, reactions: [] });
  const pinned = await board.pin(id);
  expect((await last())?.data).toMatchObject({ ...BRIEF, is_pinned: true });
  expect(pinned.body).toMatchObject({ ...LONG, is_pinned: true, pinned_by: board.writer.id });

  const quoting = await board.post({ content: 'see there', reply_to_id: id });
  expect(quoting.reply_to_message).toMatchObject({ ...BRIEF, id });
  expect((await last())?.data).toMatchObject({ content: 'see there', reply_to_message: BRIEF });
  expect(await board.get(id)).toMatchObject({ ...LONG, reply_count: 1 });
  expect(await board.get(quoting.id)).toMatchObject({ reply_to_message: LONG });
});

it('the event of an edit has it whole, and earlier events lose the old content', async () => {
  const { id } = await board.post(LONG);
  const quoting = await board.post({ content: 'see there', reply_to_id: id });
  await board.post({ content: 'reply', parent_id: id });
  for (const content of ['first', 'second']) {
    const edited = await board.edit(id, { content });
    expect(edited.body).toMatchObject({ ...LONG, content });
    expect((await last())?.data).toMatchObject({ ...LONG, content });
    const before = (await board.log()).slice(0, -1);
    for (const { data } of before.filter(({ message_id }) => message_id === id)) {
      expect(data).toMatchObject({ ...BRIEF, content });
    }
    const quotes = before.filter(({ message_id }) => message_id === quoting.id);
    expect(quotes.map(({ data }) => data.reply_to_message)).toMatchObject([{ ...BRIEF, content }]);
  }
  expect((await lengths()).filter((length) => length > 10_000)).toHaveLength(1);

  await board.edit(id, { content: 'short', data: { fill: '' }, meta: { fill: '' } });
  const short = { content: 'short', data: { fill: '' }, meta: { m: 1, fill: '' } };
  for (const { message_id, data } of await board.log())
    if (message_id === id) expect(data).toMatchObject(short);
  expect((await board.log())[0]?.data.meta).toEqual(short.meta);
});

it('a deletion removes the content from all events', async () => {
  const { id } = await board.post(LONG);
  await board.post({ content: 'reply', parent_id: id });
  await board.react(id, '👍');
  await board.remove(id);
  for (const { message_id, data } of await board.log()) {
    if (message_id === id) expect(data).toMatchObject({ content: '', data: {}, meta: { deleted: true } });
  }
});

it('events about a message of a few kilobytes contain it whole', async () => {
  const usual = { content: 'w'.repeat(900), data: { a: Array(450).fill(1) }, meta: { a: 'm'.repeat(900) } };
  const { id } = await board.post(usual);
  await board.post({ content: 'reply', parent_id: id });
  expect((await last())?.data).toMatchObject(usual);
  await board.react(id, '👍');
  expect((await last())?.data.meta).toEqual(usual.meta);
});
