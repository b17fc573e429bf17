import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseMentions } from '../../src/mentions/mentions.parse.ts';
import { openBoard } from '../channels/board.ts';
import { grant } from '../support/channels.ts';
import { type Person, signUpAs } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

const EVERYONE = '00000000-0000-0000-0000-000000000000';

const board = await openBoard();
afterAll(() => board.close());
const ada = await rename('Ada1', 'Ada');
const lovelace = await rename('Ada2', 'Ada Lovelace');
const jean = await rename('Jean', 'Jean-Luc');
const stranger = await rename('Ada3', 'Ada Lovelace King');
beforeEach(() => board.turnToNewChannel(...[ada, lovelace, jean].map(({ id }) => grant(id, 'read'))));

async function rename(signUpName: string, name: string): Promise<Person> {
  const person = await signUpAs(board.server, board.owner, signUpName, 'user');
  const username = signUpName === 'Jean' ? 'picard' : null;
  const values = [person.id, name, username];
  await board.server.database.query('update users set name = $2, username = $3 where id = $1', values);
  return person;
}

async function mentionedBy(messageId: string): Promise<string[]> {
  const rows = await board.server.database.query<{ user_id: string }>(
    'select user_id from message_mention where channel_id = $1 and message_id = $2 order by user_id',
    [board.channelId, messageId],
  );
  return rows.map(({ user_id }) => user_id);
}

const sorted = (...people: Person[]) => people.map(({ id }) => id).sort();

describe('a message mentions', () => {
  it.each([
    ['a person by name, in any case', 'hello @aDA!', () => [ada]],
    ['the longest name that fits', 'ask @Ada Lovelace, please', () => [lovelace]],
    ['the shorter one where the longer does not fit', 'ask @Ada Lovelac', () => [ada]],
    ['no one by a part of a name', '@Adalbert and @ad', () => []],
    ['a person by username', '(@picard)', () => [jean]],
    ['a name with a joiner', '@jean-luc: engage', () => [jean]],
    ['no one when a joiner follows the name', '@ada-x @ada.org', () => []],
    ['no one by an e-mail address', 'x@ada.org, mail@ada', () => []],
    ['each person once', '@ada @Ada <@U:ADA|Ada>', () => [ada]],
    ['two people', '@ada@picard', () => [ada]],
    ['several people', '@ada and @picard', () => [ada, jean]],
    ['a person by id, with or without a label', '<@U:JEAN|@ada> <@U:ADA', () => [ada, jean]],
    ['no one by another kind of id', '<@M:ADA|Ada> <@U:ADAX> <@u:ADA>', () => []],
    ['only people who may read the channel', '@Ada Lovelace King <@U:STRANGER>', () => [lovelace]],
    ['never its author', '@writer <@U:WRITER>', () => []],
  ])('%s', async (_, text, expected) => {
    const ids = { JEAN: jean.id, ADA: ada.id, STRANGER: stranger.id, WRITER: board.writer.id };
    const content = text.replaceAll(
      /\b(JEAN|ADA|STRANGER|WRITER)(X?)/g,
      (_match, who: keyof typeof ids, x) => ids[who].toUpperCase() + x,
    );
    const { id } = await board.post({ content });
    expect(await mentionedBy(id)).toEqual(sorted(...expected()));
  });

  it.each(['@here', '@channel', 'hey @Channel, look', '@HERE.'])(
    'all people of the channel by %s',
    async (content) => {
      expect(await mentionedBy((await board.post({ content })).id)).toEqual([EVERYONE]);
    },
  );

  it('a person whose name continues after a word for all people', async () => {
    const host = await rename('Host', 'Channel Host');
    const body = { access_grants: [grant(board.writer.id, 'write'), grant(host.id, 'read')] };
    await board.server.call(`POST /channels/${board.channelId}/update`, { token: board.owner.token, body });
    const { id } = await board.post({ content: '@channel host, @channels' });
    expect(await mentionedBy(id)).toEqual([host.id]);
  });

  it('the people of an edit, and keeps the rows of those who stay', async () => {
    const { id } = await board.post({ content: '@ada and @picard' });
    const rowOf = (person: Person) =>
      board.server.database.query(
        'select xmin::text, created_at from message_mention where message_id = $1 and user_id = $2',
        [id, person.id],
      );
    const row = await rowOf(ada);
    await board.edit(id, { content: '@ada and @here' });
    expect(await mentionedBy(id)).toEqual([EVERYONE, ada.id]);
    expect(await rowOf(ada)).toEqual(row);
    await board.edit(id, { content: 'nobody' });
    expect(await mentionedBy(id)).toEqual([]);
  });

  it('no one after it is deleted', async () => {
    const { id } = await board.post({ content: '@ada' });
    await board.remove(id);
    expect(await mentionedBy(id)).toEqual([]);
  });
});

describe('finding mentions', () => {
  it('runs one statement for people and one for models, and none without an @', async () => {
    await board.post({ content: 'warm' });
    const count = async (content: string) => (await recordStatements(() => board.post({ content }))).length;
    expect(await count('x'.repeat(1000))).toBe(1);
    expect(await count('@ada '.repeat(1000))).toBe(3);
    expect(await count('a@b.org')).toBe(1);
  });

  it.each([
    '@',
    '<@U:',
    '<@U:x|',
    '@a',
    '@a ',
    '@ä-',
    '<@U:018f0000-0000-7000-8000-000000000000|',
    '@\u{1f600}',
    ' @',
    'a@',
    '@a.',
    '<@',
  ])('takes time in proportion to the text: a mebibyte of %j', (piece) => {
    const { userIds, names } = parseMentions(piece.repeat(2 ** 20 / piece.length));
    expect(userIds.length + names.length).toBeLessThanOrEqual(100);
    for (const spelled of names) expect(spelled.length).toBeLessThanOrEqual(12);
  });

  it('never splits a character', () => {
    const { names } = parseMentions(`@${'\u{1f600}'.repeat(300)}`);
    expect(names.flat().every((name) => name.isWellFormed() && name.length <= 256)).toBe(true);
  });
});
