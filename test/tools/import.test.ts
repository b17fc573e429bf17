import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ToolImport } from '../../src/tools/import/import.schema.ts';
import { until } from '../support/poll.ts';
import type { Person } from '../support/server.ts';
import { openSocket, openWorkshop } from './workshop.ts';

/** The limit for sources that hang; all other sources must load within it. */
const LOAD_TIMEOUT_MS = 5_000;
const source = (word: string) => `class Tools:\n    def say(self) -> str:\n        return '${word}'\n`;

const shop = await openWorkshop({ loadTimeoutMs: LOAD_TIMEOUT_MS });
const { server, author, stranger, admin } = shop;
afterAll(() => shop.close());

/** A tool in the form of an export of Open WebUI. */
const exported = (id: string, content = source(id)) => ({
  id,
  user_id: '7',
  name: `The ${id}`,
  content,
  specs: [{ name: 'something else' }],
  meta: { description: `Says ${id}`, manifest: { title: 'Other' } },
  access_control: null,
  access_grants: [{ principal_type: 'user', principal_id: '*', permission: 'write' }],
  updated_at: 1_731_000_000,
});
/** A tool in the form of Open WebUI's community site. */
const wrapped = (id: string) => ({ id: '0c6fbe12', userId: '8', downloads: 5, tool: exported(id) });

const send = async (person: Person | null, tools: unknown, dry_run?: boolean) =>
  server.call('POST /tools/import', { token: person?.token, body: { tools, dry_run } });
const outcomes = ({ items }: ToolImport) => items.map(({ id, outcome }) => [id, outcome]);
const stored = async () => {
  const { body } = await server.call('GET /tools/list', { token: admin.token });
  return body.map(({ id }: { id: string }) => id).sort();
};

beforeEach(async () => {
  for (const id of await stored()) await shop.as(admin, 'DELETE', `${id}/delete`);
});

describe('the import of tools', () => {
  it('reports the outcome for each tool and stores nothing in a dry run, then stores the tools', async () => {
    await shop.create('taken', source('taken'));
    const tools = [
      exported('Plain'),
      wrapped('wrapped'),
      exported('plain', source('again')),
      exported('taken'),
      exported('no good'),
      exported('broken', 'import no_such_module\nclass Tools: pass\n'),
      exported('hanging', 'import time\ntime.sleep(60)\n'),
      { id: 'bare', name: 'Bare' },
      { id: 7, tool: null },
      null,
      { ...exported('last'), meta: null },
    ];
    const dry = await send(author, tools, true);
    expect(dry.status).toBe(200);
    const said = ToolImport.parse(dry.body);
    expect(outcomes(said)).toEqual([
      ['plain', 'storable'],
      ['wrapped', 'storable'],
      ['plain', 'refused'],
      ['taken', 'refused'],
      ['no good', 'refused'],
      ['broken', 'refused'],
      ['hanging', 'refused'],
      ['bare', 'refused'],
      [null, 'refused'],
      [null, 'refused'],
      ['last', 'storable'],
    ]);
    const reasons = said.items.map(({ reason }) => reason);
    expect(reasons.slice(0, 2)).toEqual([null, null]);
    expect(reasons[2]).toContain('already in use');
    expect(reasons[3]).toContain('already in use');
    expect(reasons[4]).toContain('ASCII letters');
    expect(reasons[5]).toContain('line 1 needs no_such_module');
    expect(reasons[6]).toContain(`within ${LOAD_TIMEOUT_MS / 1000} s`);
    expect(reasons[7]).toContain('content');
    expect(reasons[8]).toContain('must be a tool');
    expect(await stored()).toEqual(['taken']);

    const { body } = await send(author, tools);
    const expected = outcomes(said).map(([id, outcome]) => [id, outcome === 'storable' ? 'stored' : outcome]);
    expect(outcomes(ToolImport.parse(body))).toEqual(expected);
    expect(await stored()).toEqual(['last', 'plain', 'taken', 'wrapped']);
    // The manifest and the functions come from the source, not from the file, and the grants of the file are
    // ignored.
    const { body: plain } = await shop.as(author, 'GET', 'plain');
    expect(plain).toMatchObject({
      user_id: author.id,
      name: 'The Plain',
      content: source('Plain'),
      meta: { description: 'Says Plain', manifest: {} },
      specs: [{ name: 'say' }],
      access_grants: [],
    });
    const call = await shop.as(author, 'POST', 'wrapped/call', { function: 'say' });
    expect(call.body.result).toBe('wrapped');
  });

  it('accepts the export of this server', async () => {
    await shop.create('one', source('one'));
    await shop.create('two', source('two'));
    const { body: file } = await server.call('GET /tools/export', { token: admin.token });
    for (const id of ['one', 'two']) await shop.as(admin, 'DELETE', `${id}/delete`);
    const { body } = await send(admin, file);
    expect(outcomes(body)).toEqual([
      ['one', 'stored'],
      ['two', 'stored'],
    ]);
  });

  it('answers the same over tRPC', async () => {
    const { client, sockets } = openSocket(server.url, author.token);
    try {
      const dry = await client.toolImport.file.mutate({ tools: [exported('typed')], dry_run: true });
      expect(outcomes(dry)).toEqual([['typed', 'storable']]);
      const done = await client.toolImport.file.mutate({ tools: [exported('typed')] });
      expect(outcomes(done)).toEqual([['typed', 'stored']]);
    } finally {
      await sockets.close();
    }
  });

  it('stores each tool once when two callers import the same tools at once', async () => {
    const tools = [exported('left'), exported('right')];
    const answers = await Promise.all([send(author, tools), send(admin, tools)]);
    const all = answers.flatMap(({ body }) => outcomes(body));
    for (const id of ['left', 'right']) {
      expect(
        all
          .filter(([of]) => of === id)
          .map(([, outcome]) => outcome)
          .sort(),
      ).toEqual(['refused', 'stored']);
    }
  });

  it('stops when the caller disconnects, and keeps the tools that are stored', async () => {
    const leaving = new AbortController();
    const hanging = Array.from({ length: 3 }, (_, n) =>
      exported(`hanging_${n}`, 'import time\ntime.sleep(60)\n'),
    );
    const answer = fetch(`${server.url}/api/v1/tools/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${author.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tools: [exported('before'), ...hanging, exported('after')] }),
      signal: leaving.signal,
    });
    await until('the first to be stored', async () => (await stored()).includes('before'));
    leaving.abort();
    await expect(answer).rejects.toThrow('abort');
    await until('its processes to be idle', () => shop.python.load().running === 0);
    expect(await stored()).toEqual(['before']);
    expect(outcomes((await send(author, [exported('next')])).body)).toEqual([['next', 'stored']]);
    expect(await stored()).toEqual(['before', 'next']);
  });

  it('runs no source for callers without a permission, and accepts tools_import as one', async () => {
    expect((await send(null, [exported('mine')])).status).toBe(401);
    await shop.permit('workspace.tools', false);
    await shop.permit('workspace.tools_import', false);
    try {
      for (const dry of [true, false]) {
        const { status, body } = await send(stranger, [exported('mine')], dry);
        expect([status, body.code]).toEqual([401, 'tool_forbidden']);
      }
      await shop.permit('workspace.tools_import', true);
      expect(outcomes((await send(stranger, [exported('mine')])).body)).toEqual([['mine', 'stored']]);
    } finally {
      await shop.permit('workspace.tools', true);
    }
  });

  it('accepts an export of more than 4 MiB, and returns an outcome for each tool', async () => {
    const filler = `# ${'ä'.repeat(400_000)}\n`;
    const ids = Array.from({ length: 8 }, (_, n) => `large_${n}`);
    const tools = ids.map((id) => exported(id, filler + source(id)));
    const { status, body } = await send(author, [...tools, exported('no good'), { tool: null }], true);
    expect(status).toBe(200);
    expect(outcomes(body), JSON.stringify(body.items[0])).toEqual([
      ...ids.map((id) => [id, 'storable']),
      ['no good', 'refused'],
      [null, 'refused'],
    ]);
    expect((await send(author, tools)).status).toBe(200);
    expect((await shop.as(author, 'GET', 'large_7')).body.content).toBe(filler + source('large_7'));
  });

  const raw = async (body: string | Uint8Array<ArrayBuffer>, person: Person | null = author) => {
    const answer = await fetch(`${server.url}/api/v1/tools/import`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(person && { authorization: `Bearer ${person.token}` }),
      },
      body,
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer or a refusal
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const one = JSON.stringify(exported('one'));
  const MIB = 1024 ** 2;

  it.each([
    ['cut off', `{"tools": [${one}`, 400],
    ['malformed within a tool', `{"tools": [${one}, {"id": "b" "c"}]}`, 400],
    ['malformed between tools', `{"tools": [${one} ${one}]}`, 400],
    ['with a prototype', `{"tools": [${one}, {"__proto__": 1}]}`, 400],
    ['a bare list', `[${one}]`, 400],
    ['empty', '', 400],
    ['with a member of a wrong type', `{"tools": [${one}], "dry_run": "yes"}`, 400],
    ['with one tool of more than 4 MiB', `{"tools": [{"id": "${'x'.repeat(4 * MIB)}"}]}`, 413],
    ['with too much beside the tools', `{"tools": [${one}], "x": "${'x'.repeat(MIB)}"}`, 413],
    ['with too many values', `{"x": [${'1,'.repeat(20_000)}1]}`, 413],
    ['of more than 64 MiB', new Uint8Array(64 * MIB + 1), 413],
  ])('stores nothing of a body: %s', async (_, body, status) => {
    const answer = await raw(body);
    expect([answer.status, typeof answer.body.detail]).toEqual([status, 'string']);
    expect(await stored()).toEqual([]);
  });

  it('accepts members in any order, unknown members, and brackets and quotes in texts', async () => {
    const tricky = JSON.stringify({ ...exported('one'), name: '],[{"\\' });
    const { status, body } = await raw(
      `{"other": [1, [2]], "dry_run": null, "tools": [ ${tricky} ], "more": {"a": [3]}}`,
    );
    expect([status, outcomes(body)]).toEqual([200, [['one', 'stored']]]);
    expect((await raw(`{"tools": [${one}], "dry_run": true}`)).body.items[0].outcome).toBe('refused');
  });

  it.each([
    ['an object', {}],
    ['an empty list', []],
    ['too many', Array.from({ length: 501 }, () => null)],
    ['missing', undefined],
  ])('refuses a list of tools: %s', async (_, tools) => {
    expect((await send(author, tools)).status).toBe(400);
  });
});
