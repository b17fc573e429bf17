import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { grant } from '../support/channels.ts';
import { signUpAs } from '../support/server.ts';

const board = await openBoard();
afterAll(() => board.close());
const third = await signUpAs(board.server, board.owner, 'Third', 'user');
beforeEach(async () => {
  await board.turnToNewChannel(grant(third.id, 'write'));
});

const NOWHERE = '018f0000-0000-7000-8000-000000000000';
const reactionsTo = async (id: string) => (await board.get(id)).reactions;
const types = async () => (await board.log()).map(({ type }) => type);

describe('reactions', () => {
  it('are grouped by name in the order of first use, and their people in order too', async () => {
    const { id } = await board.post({ content: 'x' });
    for (const [name, person] of [
      ['🎉', third],
      ['👍', board.writer],
      ['👍', board.owner],
      ['🎉', board.writer],
      ['party_parrot', board.owner],
    ] as const) {
      expect(await board.react(id, name, person)).toMatchObject({ status: 200, body: true });
    }
    const writer = { id: board.writer.id, name: 'Writer' };
    const owner = { id: board.owner.id, name: 'Owner' };
    const groups = [
      { name: '🎉', count: 2, users: [{ id: third.id, name: 'Third' }, writer] },
      { name: '👍', count: 2, users: [writer, owner] },
      { name: 'party_parrot', count: 1, users: [owner] },
    ];
    expect(await reactionsTo(id)).toEqual(groups);
    expect((await board.list())[0].reactions).toEqual(groups);

    await board.unreact(id, '🎉', third);
    expect((await reactionsTo(id)).map(({ name }: { name: string }) => name)).toEqual([
      '👍',
      '🎉',
      'party_parrot',
    ]);
    await board.unreact(id, 'party_parrot', board.owner);
    expect(await reactionsTo(id)).toHaveLength(2);
  });

  it('are sent to all readers, with the current message and the name', async () => {
    const { id, updated_at } = await board.post({ content: 'x' });
    await board.react(id, '👍', third);
    const added = await board.get(id);
    await board.unreact(id, '👍', third);
    const removed = await board.get(id);
    expect(removed).toMatchObject({ reactions: [], updated_at });
    const [, ...events] = await board.log();
    const actor = { id: third.id, name: 'Third', role: 'user' };
    expect(events).toEqual([
      expect.objectContaining({ type: 'message:reaction:add', actor, data: { ...added, name: '👍' } }),
      expect.objectContaining({ type: 'message:reaction:remove', actor, data: { ...removed, name: '👍' } }),
    ]);
  });

  it('that exist already, or removals of missing ones, answer true and send nothing', async () => {
    const { id } = await board.post({ content: 'x' });
    expect((await board.unreact(id, '👍')).body).toBe(true);
    await board.react(id, '👍');
    expect((await board.react(id, '👍')).body).toBe(true);
    // The caller cannot remove the reaction of another user.
    expect((await board.unreact(id, '👍', third)).body).toBe(true);
    expect(await reactionsTo(id)).toMatchObject([{ name: '👍', count: 1 }]);
    expect(await types()).toEqual(['message', 'message:reaction:add']);
  });

  it('ten times at once are one; by three people at once they are three, in events without a gap', async () => {
    const { id } = await board.post({ content: 'x' });
    const people = [board.owner, board.writer, third];
    await Promise.all(
      people.flatMap((person) => Array.from({ length: 10 }, () => board.react(id, '👍', person))),
    );
    expect(await reactionsTo(id)).toMatchObject([{ count: 3 }]);
    const events = await board.log();
    expect(events.slice(1).map(({ type }) => type)).toEqual(Array(3).fill('message:reaction:add'));
    expect(events.map(({ id: number }) => number)).toEqual(events.map((_, n) => (events[0]?.id ?? 0) + n));
    // Each event shows all earlier reactions, so the last event has them all.
    expect(events.slice(1).map(({ data }) => (data.reactions as [{ count: number }])[0].count)).toEqual([
      1, 2, 3,
    ]);
    await Promise.all(
      people.flatMap((person) => Array.from({ length: 10 }, () => board.unreact(id, '👍', person))),
    );
    expect(await reactionsTo(id)).toEqual([]);
    expect(await types()).toHaveLength(7);
  });

  it('are deleted with their message, and with the account of their author', async () => {
    const leaver = await signUpAs(board.server, board.owner, 'Leaver', 'user');
    await board.turnToNewChannel(grant(leaver.id, 'write'));
    const root = await board.post({ content: 'root' });
    await board.post({ content: 'reply', parent_id: root.id });
    await board.react(root.id, '👍');
    await board.react(root.id, '👋', leaver);
    await board.server.call(`DELETE /users/${leaver.id}`, { token: board.owner.token });
    expect(await reactionsTo(root.id)).toMatchObject([{ name: '👍' }]);
    await board.remove(root.id);
    expect(await reactionsTo(root.id)).toEqual([]);
    const rows = await board.server.database.query('select 1 from message_reaction where message_id = $1', [
      root.id,
    ]);
    expect(rows).toEqual([]);
    const reactionsLogged = (await board.log())
      .filter(({ message_id }) => message_id === root.id)
      .flatMap(({ data }) => data.reactions);
    expect(reactionsLogged).toEqual([]);
  });

  it('are refused for unknown messages and tombstones', async () => {
    const root = await board.post({ content: 'root' });
    await board.post({ content: 'reply', parent_id: root.id });
    await board.remove(root.id);
    const before = await board.log();
    for (const id of [root.id, NOWHERE]) {
      expect(await board.react(id, '👍')).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect(await board.unreact(id, '👍')).toMatchObject({ status: 404 });
    }
    expect(await board.log()).toEqual(before);
  });

  it('are not part of a quote', async () => {
    const quoted = await board.post({ content: 'quoted' });
    await board.react(quoted.id, '👍');
    const { reply_to_message } = await board.post({ content: 'x', reply_to_id: quoted.id });
    expect(reply_to_message).toMatchObject({ id: quoted.id });
    expect(reply_to_message).not.toHaveProperty('reactions');
  });
});

describe('the name of a reaction', () => {
  it.each([
    ['an emoji of several code points', '👩‍👩‍👧‍👦'],
    ['a flag', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['an emoji with a skin tone', '👍🏽'],
    ['an emoji of several joined ones', '👨🏽‍❤️‍💋‍👨🏿'],
    ['a flag of two letters', '🇩🇪'],
    ['a keycap', '1️⃣'],
    ['an emoji in text style', '❤'],
    ['a short name', ':thumbsup:'],
    ['a short name with a sign', '+1'],
    ['two words', 'thumbs up'],
    ['words with combining marks', 'ठीक ที่ שָׁלוֹם'],
    ['64 characters', 'x'.repeat(64)],
    ['text that looks like SQL and markup', `'; drop table users; --<b>`],
  ])('may be %s', async (_what, name) => {
    const { id } = await board.post({ content: 'x' });
    expect((await board.react(id, name)).body).toBe(true);
    expect(await reactionsTo(id)).toMatchObject([{ name }]);
  });

  it('is the same in every Unicode form, and with white space around it', async () => {
    const { id } = await board.post({ content: 'x' });
    await board.react(id, 'e\u0301t\u00e9');
    await board.react(id, ' \u00e9te\u0301\n', third);
    expect(await reactionsTo(id)).toMatchObject([{ name: '\u00e9t\u00e9', count: 2 }]);
    await board.unreact(id, 'e\u0301te\u0301');
    expect(await reactionsTo(id)).toMatchObject([{ count: 1 }]);
  });

  it.each([
    ['65 characters', 'x'.repeat(65)],
    ['an empty text', ''],
    ['white space only', ' \t\u2003'],
    ['NUL', 'a\0'],
    ['a lone surrogate', '\ud83d'],
    ['a number', 1],
    ['null', null],
    ['missing', undefined],
  ])('must not be %s', async (_what, name) => {
    const { id } = await board.post({ content: 'x' });
    for (const answer of [await board.react(id, name), await board.unreact(id, name)]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
      expect(answer.body.detail).toMatch(/^name: /);
    }
    expect(await types()).toEqual(['message']);
  });

  it.each([
    ['a zero-width space', '\u200b'],
    ['a zero-width space behind an emoji', '👍\u200b'],
    ['a joiner without a second emoji', '👍\u200d'],
    ['a line break', 'a\nb'],
    ['a control character', '\u0007'],
    ['a mark of the writing direction', '\u202eab'],
    ['a blank letter', '\u3164'],
    ['an empty Braille pattern', '\u2800'],
    ['tags that are no flag', 'a\u{e0061}'],
    ['a private-use character', '\ue000'],
    ['several spaces', 'a   b'],
    ['64 combining marks', '\u0301'.repeat(64)],
    ['a pile of marks on a letter', `e${'\u0301'.repeat(20)}`],
  ])(
    'must not be %s, which can still be removed by its author when it was stored before',
    async (_what, name) => {
      const { id } = await board.post({ content: 'x' });
      const answer = await board.react(id, name);
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation', issues: [{ path: 'name' }] } });
      expect(answer.body.detail).toMatch(/^name: must be an emoji or a word/);
      expect(await types()).toEqual(['message']);
      const stored = 'insert into message_reaction values ($1, $2, $3, $4, 1)';
      const values = [board.channelId, id, name.normalize('NFC'), board.writer.id];
      await board.server.database.query(stored, values);
      expect(await reactionsTo(id)).toHaveLength(1);
      expect((await board.unreact(id, name)).body).toBe(true);
      expect(await reactionsTo(id)).toEqual([]);
    },
  );

  it('is one of 50 at most, also with concurrent reactions; existing ones can still be joined', async () => {
    const { id } = await board.post({ content: 'x' });
    for (let n = 0; n < 45; n += 1) await board.react(id, `r${n}`);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => board.react(id, `s${n}`, third)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array(5).fill(200),
      ...Array(5).fill(400),
    ]);
    expect(await reactionsTo(id)).toHaveLength(50);
    const refused = await board.react(id, 'another');
    expect(refused).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect(refused.body.detail).toMatch(/50/);
    expect(await types()).toHaveLength(51);
    expect((await board.react(id, 'r0', third)).body).toBe(true);
  });
});
