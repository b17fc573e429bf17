import { afterAll, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { type Person, signUp, signUpAll, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

const server = await startServer();
afterAll(() => server.close());
const [admin, owner, reader, stranger] = await signUpAll(server, 'Admin', 'Owner', 'Reader', 'Stranger');
const pending = await signUp(server, 'Pending');
const channel = await channelFor(owner, reader);

function channelFor(...people: Person[]): Promise<string> {
  return makeChannel(server, admin, ...people.map(({ id }) => grant(id, 'write')));
}

const say = async (content: string, person = owner, where = channel, more: object = {}) =>
  (
    await server.call(`POST /channels/${where}/messages/post`, {
      token: person.token,
      body: { content, ...more },
    })
  ).body;

const search = (query: Record<string, string>, { token }: Partial<Person> = reader) =>
  server.call(`GET /channels/messages/search?${new URLSearchParams(query)}`, { token });

/** The contents of the found messages. */
const found = async (query: Record<string, string> | string, person = reader): Promise<string[]> => {
  const { status, body } = await search(typeof query === 'string' ? { q: query } : query, person);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.map(({ content }: { content: string }) => content);
};

describe('a search', () => {
  it('finds only messages that the caller may read', async () => {
    const { id } = await say('the albatross has landed');
    expect(await found('albatross', owner)).toHaveLength(1);
    expect(await found('albatross', reader)).toHaveLength(1);
    expect(await found('albatross', admin)).toHaveLength(1);
    expect(await found('albatross', stranger)).toEqual([]);
    const [message] = (await search({ q: 'albatross' })).body;
    const own = (await server.call(`GET /channels/${channel}/messages/${id}`, { token: reader.token })).body;
    const { fragments: _fragments, channel: where, ...view } = message;
    expect(view).toEqual(own);
    expect(where).toEqual({ id: channel, name: 'general', type: null });
  });

  it('requires a full account', async () => {
    expect((await search({ q: 'x' }, {})).status).toBe(401);
    expect((await search({ q: 'x' }, { token: 'x' })).status).toBe(401);
    expect((await search({ q: 'x' }, pending)).body.code).toBe('account_pending');
  });

  it('finds nothing after access to the channel is revoked', async () => {
    const lost = await channelFor(owner, stranger);
    await say('a pelican', owner, lost);
    expect(await found('pelican', stranger)).toHaveLength(1);
    const body = { access_grants: [grant(owner.id, 'write')] };
    await server.call(`POST /channels/${lost}/update`, { token: admin.token, body });
    expect(await found('pelican', stranger)).toEqual([]);
    const one = await search({ q: 'pelican', channel_id: lost }, stranger);
    expect([one.status, one.body.code]).toEqual([403, 'forbidden']);
  });

  it('finds nothing of group and direct channels of other people, for administrators too', async () => {
    for (const type of ['group', 'dm']) {
      const { body } = await server.call('POST /channels/create', {
        token: owner.token,
        body: { name: 'private', type, user_ids: [reader.id] },
      });
      await say('a secret heron', owner, body.id);
      expect((await search({ q: 'heron', channel_id: body.id }, admin)).status).toBe(403);
    }
    expect(await found('heron', reader)).toHaveLength(2);
    expect(await found('heron', admin)).toEqual([]);
    expect(await found('heron', stranger)).toEqual([]);
  });

  it('reports a channel that does not exist', async () => {
    const none = await search({ q: 'x', channel_id: '019ab000-0000-7000-8000-000000000000' });
    expect([none.status, none.body.code]).toEqual([404, 'not_found']);
  });
});

describe('a found message', () => {
  it('has the words, with the syntax of web searches', async () => {
    const [both, one] = ['Red kites circle high', 'A red robin sings'];
    await say(both);
    await say(one);
    expect(await found('RED')).toEqual([one, both]);
    expect(await found('red kites')).toEqual([both]);
    expect(await found('"kites circle"')).toEqual([both]);
    expect(await found('"circle kites"')).toEqual([]);
    expect(await found('red -kites')).toEqual([one]);
    expect(await found('robin or circle')).toEqual([one, both]);
    // The last word may be unfinished; an earlier word, or one in a phrase, may not.
    expect(await found('red kit')).toEqual([both]);
    expect(await found('kit red')).toEqual([]);
    expect(await found('red "kit"')).toEqual([]);
    expect(await found('red -kit')).toEqual([one, both]);
  });

  it('has the author, the time and the channel of the filter, page by page', async () => {
    const first = await say('one cormorant');
    const second = await say('two cormorants, one cormorant', reader);
    const other = await channelFor(owner, reader);
    const third = await say('cormorant elsewhere', owner, other);
    const q = 'cormorant';
    expect(await found(q)).toEqual([third.content, second.content, first.content]);
    expect(await found({ q, from: reader.id })).toEqual([second.content]);
    expect(await found({ q, channel_id: other })).toEqual([third.content]);
    expect(await found({ q, before: String(second.created_at) })).toEqual([first.content]);
    expect(await found({ q, after: String(second.created_at) })).toEqual([third.content]);
    expect(await found({ q, skip: '1', limit: '1' })).toEqual([second.content]);
  });

  it('may be in a thread, has its edited content, and is not found after its deletion', async () => {
    const root = await say('a root with an ibis');
    const reply = await say('an ibis again', owner, channel, { parent_id: root.id });
    expect(await found('ibis')).toEqual([reply.content, root.content]);
    const path = `/channels/${channel}/messages`;
    const token = owner.token;
    await server.call(`POST ${path}/${reply.id}/update`, { token, body: { content: 'a stork' } });
    expect(await found('ibis')).toEqual([root.content]);
    expect(await found('stork')).toEqual(['a stork']);
    await server.call(`DELETE ${path}/${root.id}/delete`, { token });
    expect(await found('ibis')).toEqual([]);
  });

  it('shows its matches as plain text with marks that no content can imitate', async () => {
    const fragments = async (q: string) => (await search({ q })).body[0].fragments;
    await say('<b>An</b> egret <script>alert(1)</script> & an EGRET');
    const [fragment] = await fragments('egret');
    const matches = fragment.filter(({ is_match }: { is_match: boolean }) => is_match);
    expect(matches).toEqual([
      { text: 'egret', is_match: true },
      { text: 'EGRET', is_match: true },
    ]);

    await say(`far away ${'word '.repeat(3_000)} then a bittern ${'word '.repeat(3_000)} and a bittern`);
    const far = await fragments('bittern');
    expect(far.length).toBeGreaterThan(0);
    for (const place of far) {
      const text = place.map((segment: { text: string }) => segment.text).join('');
      expect(text).toContain('bittern');
      expect(text.length).toBeLessThan(500);
    }
  });
});

describe('an invalid search', () => {
  it.each<[string, Record<string, string>]>([
    ['no words', {}],
    ['empty', { q: '' }],
    ['blank', { q: '  ' }],
    ['punctuation', { q: '!!! & | ( ) :* <->' }],
    ['quotes', { q: '"""' }],
    ['only excluded words', { q: '-red' }],
    ['excluded words with an alternative', { q: 'red or -blue' }],
    ['too long', { q: 'x'.repeat(501) }],
    ['64 KiB', { q: 'x'.repeat(8_000) }],
    ['NUL', { q: 'a\0b' }],
    ['a malformed id of a channel', { q: 'x', channel_id: 'x' }],
    ['a malformed id of an author', { q: 'x', from: "' or true --" }],
    ['a time that is no number', { q: 'x', before: 'yesterday' }],
    ['half a nanosecond', { q: 'x', after: '0.5' }],
    ['a time out of range', { q: 'x', after: '1e30' }],
    ['no items', { q: 'x', limit: '0' }],
    ['too many items', { q: 'x', limit: '201' }],
  ])('%s is refused with a clear text', async (_what, query) => {
    const { status, body } = await search(query);
    expect([status, body.code]).toEqual([400, 'validation']);
    expect(body.detail).toEqual(expect.any(String));
  });

  it.each([
    "x'); drop table message; --",
    "x':* | 'y",
    "it's",
    'x:*',
    'a & b | !c <-> d',
    '%',
    '100%_',
    `${'a or '.repeat(120)}b`,
    `${'("'.repeat(200)}x`,
    '\\',
    "\\'x",
    'ünïcödé 文書 🦩',
    `x${'-x'.repeat(249)}`,
  ])('is read as words, however it looks: %s', async (q) => {
    const { status, body } = await search({ q });
    expect([200, 400]).toContain(status);
    if (status === 400) expect(body.code).toBe('validation');
    expect(await found('albatross')).toHaveLength(1);
  });

  it('with a repeated member is refused, since either value could be meant', async () => {
    const path = '/channels/messages/search?q=a&q=b';
    expect((await server.call(`GET ${path}`, { token: reader.token })).status).toBe(400);
  });
});

it('a search is one statement in a transaction with a time limit, for any number of results', async () => {
  for (let n = 0; n < 20; n += 1) await say(`flamingo ${n}`);
  await search({ q: 'flamingo' });
  const sent = await recordStatements(async () => {
    expect((await search({ q: 'flamingo' })).body).toHaveLength(20);
  });
  expect(sent).toEqual([
    'begin read only',
    expect.stringMatching(/set_config\('statement_timeout'/),
    expect.any(String),
    'commit',
  ]);
});

it('many messages with only the searched word do not slow down a search', async () => {
  const flood = await channelFor(owner, reader);
  for (let n = 0; n < 20; n += 1) await say('auk '.repeat(16_000), owner, flood);
  await say(`${'tern '.repeat(200)}${'auk '.repeat(16_000)}`, owner, flood);
  // PostgreSQL ends a statement after 5 s.
  for (const q of ['auk', 'auk auk auk', `"${'auk '.repeat(100)}"`, 'auk '.repeat(120), 'auk,'.repeat(120)]) {
    const { status, body } = await search({ q, channel_id: flood, limit: '200' });
    expect([q, status, body.length]).toEqual([q, 200, 21]);
  }
  for (const { fragments } of (await search({ q: 'auk', channel_id: flood })).body) {
    expect(fragments.flat()).toContainEqual({ text: 'auk', is_match: true });
  }
});

it('the answer matches its declared output', async () => {
  const { FoundMessage } = await import('../../src/search/search.schema.ts');
  const { body } = await search({ q: 'flamingo' });
  expect(body.map((item: unknown) => FoundMessage.strict().parse(item))).toEqual(body);
});
