import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

describe('content and free-form members', () => {
  const KIB = 1024;

  it.each([
    ['nothing at all', ''],
    ['emoji of several code points', '👩‍👩‍👧‍👦🏳️‍🌈'],
    ['right-to-left text with marks', '\u202eשלום\u202c مرحبا'],
    ['a line break of every kind', 'a\nb\r\nc\u2028d\u0085'],
    ['text that looks like SQL and markup', `'; drop table message; -- <script>&"\\`],
    ['64 KiB exactly', 'a'.repeat(64 * KIB)],
    ['64 KiB exactly, in two-byte characters', 'ä'.repeat(32 * KIB)],
  ])('stores %s unchanged', async (_what, content) => {
    const { id } = await board.post({ content });
    expect((await board.get(id)).content).toBe(content);
    expect((await board.edit(id, { content: 'other' })).status).toBe(200);
    expect((await board.edit(id, { content })).body.content).toBe(content);
  });

  it.each([
    ['one byte over 64 KiB', 'a'.repeat(64 * KIB + 1)],
    ['one byte over 64 KiB, in two-byte characters', `${'ä'.repeat(32 * KIB)}a`],
    ['NUL', 'a\0b'],
    ['a lone surrogate', 'a\ud800b'],
    ['a number', 5],
    ['null', null],
    ['no content', undefined],
  ])('refuses %s, in a post and in an edit', async (_what, content) => {
    const { id } = await board.post({ content: 'as it was' });
    for (const answer of [await board.send({ content }), await board.edit(id, { content })]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
      expect(answer.body.detail).toMatch(/^content: /);
    }
    expect((await board.get(id)).content).toBe('as it was');
    expect(await board.log()).toHaveLength(1);
  });

  /** An object whose JSON has this number of bytes. */
  const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

  it.each(['data', 'meta'])('accepts %s of at most 256 KiB as JSON', async (member) => {
    const { id } = await board.post({ content: 'x', [member]: ofSize(256 * KIB) });
    expect(await board.get(id)).toMatchObject({ [member]: ofSize(256 * KIB) });
    const answer = await board.send({ content: 'x', [member]: ofSize(256 * KIB + 1) });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(new RegExp(`^${member}: `));
  });

  it.each(['data', 'meta'])('refuses edits that merge %s to more than that', async (member) => {
    const { id } = await board.post({ content: 'x', [member]: ofSize(200 * KIB) });
    const answer = await board.edit(id, { content: 'y', [member]: { b: 'x'.repeat(100 * KIB) } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation', issues: [{ path: member }] } });
    expect(await board.get(id)).toMatchObject({ content: 'x', [member]: ofSize(200 * KIB) });
    expect(await board.log()).toHaveLength(1);
    expect((await board.edit(id, { content: 'y', [member]: { a: 'short' } })).body[member]).toEqual({
      a: 'short',
      ...(member === 'data' && { files: [] }),
    });
  });

  it.each([
    ['a list', []],
    ['a text', 'x'],
    ['NUL in a value', { a: ['\0'] }],
    ['NUL in a name', { '\0': 1 }],
    ['a lone surrogate in a value', { a: { b: '\udfff' } }],
    ['a lone surrogate in a name', { '\ud800': 1 }],
  ])('refuses %s as data', async (_what, data) => {
    expect(await board.send({ content: 'x', data })).toMatchObject({
      status: 400,
      body: { code: 'validation' },
    });
  });

  /** Posts JSON text unchanged, at either door. */
  async function sendText(door: string, text: string) {
    const headers = { authorization: `Bearer ${board.writer.token}`, 'content-type': 'application/json' };
    const [url, body] =
      door === 'REST'
        ? [`${board.server.url}/api/v1${board.at('/post')}`, text]
        : [`${board.server.url}/trpc/messages.post`, text.replace('{', `{"id":"${board.channelId}",`)];
    return fetch(url, { method: 'POST', headers, body });
  }

  describe.each(['REST', 'tRPC'])('at the %s door', (door) => {
    it('free-form members of any name and depth stay unchanged', async () => {
      const data = `{"constructor":"c","toString":"t","$like":"%","":{"deep":[[[{"n":1.5e-7,"big":1e300,"no":null}]]]}}`;
      expect((await sendText(door, `{"content":"x","data":${data}}`)).status).toBe(200);
      expect((await board.list())[0].data).toEqual({ ...JSON.parse(data), files: [] });
    });

    it.each(['{"__proto__":{"polluted":1}}', '{"a":[{"\\u005f_pro\\u0074o__":{"polluted":1}}]}'])(
      '%s is refused with its reason',
      async (data) => {
        const response = await sendText(door, `{"content":"x","data":${data}}`);
        expect(response.status).toBe(400);
        expect(await response.text()).toMatch(/must not hold a member named .+__proto__/);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
        expect(await board.list()).toEqual([]);
      },
    );

    it('a member named constructor is accepted', async () => {
      const data = '{"constructor":{"prototype":{"polluted":1}},"text":"__proto__"}';
      expect((await sendText(door, `{"content":"x","data":${data}}`)).status).toBe(200);
      expect((await board.list())[0].data).toEqual({ ...JSON.parse(data), files: [] });
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    it.each([100, 5_000, 100_000])('data of %i levels within the first is refused', async (depth) => {
      const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      expect((await sendText(door, `{"content":"x","data":${nested(99)}}`)).status).toBe(200);
      const response = await sendText(door, `{"content":"y","data":${nested(depth)}}`);
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('nested')]);
      expect(await board.list()).toHaveLength(1);
    });
  });
});
