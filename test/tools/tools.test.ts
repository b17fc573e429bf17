import { createTRPCClient, httpBatchLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AppRouter } from '../../src/router.ts';
import { grant } from '../support/channels.ts';
import { startTestPython } from '../support/python.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';

const SOURCE = `"""
title: Dice
version: 1.0
"""
class Tools:
    async def roll(self, sides: int = 6, __user__: dict = {}, __event_emitter__=None) -> str:
        """
        Roll one die.

        :param sides: How many sides it has
        :return: Who rolled
        """
        await __event_emitter__({"type": "status", "data": {"description": "rolling"}})
        return f"{__user__['name']} rolls {sides}"
`;

const form = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: 'Dice',
  content: SOURCE,
  meta: { description: 'Rolls dice', manifest: { title: 'not this' } },
  ...more,
});

let server: TestServer;
let admin: Person;
let author: Person;
let reader: Person;
let writer: Person;
let stranger: Person;

/** Gives or takes the permission to author tools for all members. */
async function allowAuthors(allowed: boolean) {
  const { body: config } = await server.call('GET /configs/export', { token: admin.token });
  config.user.permissions.workspace.tools = allowed;
  await server.call('POST /configs/import', { token: admin.token, body: config });
}

const python = await startTestPython({ callTimeoutMs: 5_000 });

beforeAll(async () => {
  server = await startServer({ python });
  admin = await signUp(server, 'Admin');
  author = await signUpAs(server, admin, 'Author', 'user');
  reader = await signUpAs(server, admin, 'Reader', 'user');
  writer = await signUpAs(server, admin, 'Writer', 'user');
  stranger = await signUpAs(server, admin, 'Stranger', 'user');
  await allowAuthors(true);
});
afterAll(async () => {
  await server.close();
  await python.close();
});

describe('a tool', () => {
  it('is created from its source, with the specifications and the manifest of the source', async () => {
    const { status, body } = await server.call('POST /tools/create', {
      token: author.token,
      body: form('Dice_1', { user_id: stranger.id, created_at: 1 }),
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'dice_1',
      user_id: author.id,
      name: 'Dice',
      meta: {
        description: 'Rolls dice',
        has_user_valves: false,
        manifest: { title: 'Dice', version: '1.0' },
      },
      specs: [
        {
          name: 'roll',
          description: 'Roll one die.',
          returns: 'Who rolled',
          parameters: {
            type: 'object',
            properties: { sides: { type: 'integer', default: 6, description: 'How many sides it has' } },
          },
        },
      ],
      access_grants: [],
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      version_id: '1',
    });
  });

  it('runs as its caller, and the response contains its events', async () => {
    const { status, body } = await server.call('POST /tools/id/dice_1/call', {
      token: author.token,
      body: { function: 'roll', arguments: { sides: 20 } },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: 'Author rolls 20',
      events: [{ type: 'status', data: { description: 'rolling' } }],
      duration_ms: expect.any(Number),
    });
    const client = createTRPCClient<AppRouter>({
      links: [
        httpBatchLink({ url: `${server.url}/trpc`, headers: { authorization: `Bearer ${admin.token}` } }),
      ],
    });
    const answer = await client.tools.invoke.mutate({ id: 'dice_1', function: 'roll' });
    expect(answer.result).toBe('Admin rolls 6');
  });

  it.each([
    [
      'arguments that do not fit',
      { function: 'roll', arguments: { sides: 'many' } },
      400,
      'arguments_invalid',
    ],
    ['an unknown argument', { function: 'roll', arguments: { faces: 6 } }, 400, 'arguments_invalid'],
    ['an unknown function', { function: 'fly' }, 404, 'not_found'],
    ['a method that every Python object has', { function: '__init__' }, 404, 'not_found'],
    ['arguments of a wrong type', { function: 'roll', arguments: [6] }, 400, 'validation'],
    ['no function', { arguments: {} }, 400, 'validation'],
  ])('refuses a call with %s', async (_what, body, status, code) => {
    const answer = await server.call('POST /tools/id/dice_1/call', { token: author.token, body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('fails clearly when it raises, hangs or ends its process, and other calls go on', async () => {
    const content = `import os, time
class Tools:
    def fail(self):
        raise ValueError("no such city")
    def hang(self):
        time.sleep(60)
    def leave(self):
        os._exit(3)
`;
    await server.call('POST /tools/create', { token: author.token, body: form('unruly', { content }) });
    const run = (name: string) =>
      server.call('POST /tools/id/unruly/call', { token: author.token, body: { function: name } });
    expect(await run('fail')).toMatchObject({
      status: 422,
      body: { code: 'tool_raised', detail: expect.stringContaining('no such city') },
    });
    expect(await run('hang')).toMatchObject({ status: 504, body: { code: 'tool_timeout' } });
    expect(await run('leave')).toMatchObject({ status: 422, body: { code: 'tool_raised' } });
    expect((await run('fail')).status).toBe(422);
    const other = await server.call('POST /tools/id/dice_1/call', {
      token: author.token,
      body: { function: 'roll' },
    });
    expect(other.status).toBe(200);
  });
});

describe('refuses to create a tool:', () => {
  it.each([
    ['an id with a dash', form('my-tool'), 'id_invalid'],
    ['an empty id', form(''), 'id_invalid'],
    ['an id with letters beyond ASCII', form('würfel'), 'id_invalid'],
    ['an id that is taken, whatever its case', form('DICE_1'), 'id_taken'],
    ['source with a syntax error', form('bad', { content: 'class Tools:\n  def' }), 'tool_invalid'],
    ['source without Tools', form('bad', { content: 'x = 1' }), 'tool_invalid'],
    [
      'source that fails to load',
      form('bad', { content: 'import nowhere\nclass Tools: pass' }),
      'tool_invalid',
    ],
    ['source with NUL', form('bad', { content: 'class Tools: pass\0' }), 'validation'],
    ['source over 1 MiB', form('bad', { content: '#'.repeat(1024 * 1024 + 1) }), 'validation'],
    ['no name', { ...form('bad'), name: undefined }, 'validation'],
    ['no meta', { ...form('bad'), meta: undefined }, 'validation'],
    [
      'an unknown permission',
      form('bad', { access_grants: [{ ...grant('*', 'read'), permission: 'own' }] }),
      'validation',
    ],
  ])('%s', async (_what, body, code) => {
    const answer = await server.call('POST /tools/create', { token: author.token, body });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect((await server.call('GET /tools/id/bad', { token: author.token })).status).toBe(404);
  });

  it('the second of two concurrent requests with one id', async () => {
    const answers = await Promise.all(
      [author, admin].map(({ token }) => server.call('POST /tools/create', { token, body: form('twice') })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.code).toBe('id_taken');
  });
});

describe('a specification', () => {
  const create = (id: string, content: string) =>
    server.call('POST /tools/create', { token: author.token, body: form(id, { content }) });

  it('keeps the order of the parameters', async () => {
    const method = 'def f(self, zeta: int, b: str, alpha: float = 1.5, *, k: bool = True): pass';
    const { body } = await create('ordered', `class Tools:\n    ${method}\n`);
    expect(Object.keys(body.specs[0].parameters.properties)).toEqual(['zeta', 'b', 'alpha', 'k']);
  });

  it.each([
    ['NUL in a description', 'def f(self):\n        "one\\0two"'],
    ['a lone surrogate', 'def f(self):\n        "\\ud800"'],
    ['more text than can be stored', 'def f(self): pass\n    f.__doc__ = "x" * 300_000'],
    ['a default that JSON cannot express', 'def f(self, x: float = float("inf")): pass'],
  ])('with %s is refused with a clear text', async (_what, method) => {
    const { status, body } = await create('odd', `class Tools:\n    ${method}\n`);
    expect([status, body.code]).toEqual([400, 'tool_invalid']);
    expect(body.detail).toMatch(/specification|JSON/i);
  });
});

describe('access to a tool:', () => {
  const rows = () => ({
    administrator: admin,
    owner: author,
    'write grant': writer,
    'read grant': reader,
    'no grant': stranger,
  });
  const LOCKED = 'granted';

  beforeAll(async () => {
    await server.call('POST /tools/create', {
      token: author.token,
      body: form(LOCKED, { access_grants: [grant(reader.id, 'read'), grant(writer.id, 'write')] }),
    });
  });

  it.each([
    ['administrator', 200, true, 200],
    ['owner', 200, true, 200],
    ['write grant', 200, true, 200],
    ['read grant', 200, false, 401],
    ['no grant', 401, false, 401],
  ] as const)('%s', async (row, read, seesSource, write) => {
    const { token } = rows()[row];
    const got = await server.call(`GET /tools/id/${LOCKED}`, { token });
    expect(got.status).toBe(read);
    expect('content' in got.body).toBe(seesSource);
    if (read === 200) expect(got.body.write_access).toBe(seesSource);
    const called = await server.call(`POST /tools/id/${LOCKED}/call`, { token, body: { function: 'roll' } });
    expect(called.status).toBe(read);
    const changed = await server.call(`POST /tools/id/${LOCKED}/update`, { token, body: form(LOCKED) });
    expect(changed.status).toBe(write);
    const { body: listed } = await server.call('GET /tools', { token });
    expect(listed.some(({ id }: { id: string }) => id === LOCKED)).toBe(read === 200);
    expect(listed.every((tool: object) => !('content' in tool))).toBe(true);
    if (write !== 200) {
      const deleted = await server.call(`DELETE /tools/id/${LOCKED}/delete`, { token });
      expect([deleted.status, deleted.body.code]).toEqual([401, 'tool_forbidden']);
    }
  });

  it('no credentials, and a missing tool', async () => {
    expect((await server.call(`GET /tools/id/${LOCKED}`)).status).toBe(401);
    for (const request of ['GET /tools/id/none', 'DELETE /tools/id/none/delete']) {
      expect((await server.call(request, { token: author.token })).status).toBe(404);
    }
  });

  it('creating a tool and changing its source require the permission; a refused source never runs', async () => {
    await allowAuthors(false);
    const content = 'raise RuntimeError("was run")\nclass Tools: pass';
    const created = await server.call('POST /tools/create', {
      token: stranger.token,
      body: form('mine', { content }),
    });
    expect([created.status, created.body.code]).toEqual([401, 'tool_forbidden']);
    const update = (body: object) =>
      server.call(`POST /tools/id/${LOCKED}/update`, { token: writer.token, body });
    expect((await update(form(LOCKED, { content }))).body.code).toBe('tool_forbidden');
    const renamed = await update(form(LOCKED, { name: 'Renamed' }));
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Renamed']);
    await allowAuthors(true);
  });

  it('a grant to everyone requires sharing.public_tools', async () => {
    const share = (token: string) =>
      server.call(`POST /tools/id/${LOCKED}/update`, {
        token,
        body: form(LOCKED, { access_grants: [grant('*', 'read'), grant(writer.id, 'write')] }),
      });
    const principals = (body: { access_grants: { principal_id: string }[] }) =>
      body.access_grants.map(({ principal_id }) => principal_id).sort();
    expect(principals((await share(author.token)).body)).toEqual([writer.id]);
    expect((await server.call(`GET /tools/id/${LOCKED}`, { token: stranger.token })).status).toBe(401);
    expect(principals((await share(admin.token)).body)).toEqual(['*', writer.id].sort());
    expect((await server.call(`GET /tools/id/${LOCKED}`, { token: stranger.token })).status).toBe(200);
  });
});

describe('a change', () => {
  it('of the source applies to the next call', async () => {
    await server.call('POST /tools/create', { token: author.token, body: form('changing') });
    const content = 'class Tools:\n    def roll(self) -> int:\n        return 4\n';
    const { body } = await server.call('POST /tools/id/changing/update', {
      token: author.token,
      body: form('ignored', { content }),
    });
    expect(body.specs[0]).toMatchObject({ name: 'roll', description: '' });
    expect(body.meta.manifest).toEqual({});
    const called = await server.call('POST /tools/id/changing/call', {
      token: author.token,
      body: { function: 'roll' },
    });
    expect(called.body.result).toBe(4);
  });

  it('that began from an older version is refused', async () => {
    const update = (version_id: string) =>
      server.call('POST /tools/id/changing/update', {
        token: author.token,
        body: form('changing', { name: `From ${version_id}`, version_id }),
      });
    const { body } = await server.call('GET /tools/id/changing', { token: author.token });
    const refused = await update(String(Number(body.version_id) - 1));
    expect([refused.status, refused.body.code]).toEqual([409, 'version_conflict']);
    expect((await update(body.version_id)).body.name).toBe(`From ${body.version_id}`);
  });

  it('to a broken source changes nothing', async () => {
    const before = await server.call('GET /tools/id/changing', { token: author.token });
    const refused = await server.call('POST /tools/id/changing/update', {
      token: author.token,
      body: form('changing', { content: 'class Tools', name: 'Broken' }),
    });
    expect([refused.status, refused.body.code]).toEqual([400, 'tool_invalid']);
    expect((await server.call('GET /tools/id/changing', { token: author.token })).body).toEqual(before.body);
  });

  // Users choose ids: the creator of a tool with a reused id must not inherit the grants of the deleted tool.
  it('and a deletion at the same time leave no grants for the next tool of the same id', async () => {
    const token = author.token;
    const shared = form('reused', { access_grants: [grant(stranger.id, 'write')] });
    for (let round = 0; round < 8; round += 1) {
      await server.call('POST /tools/create', { token, body: shared });
      const answers = await Promise.all([
        server.call('POST /tools/id/reused/update', { token, body: shared }),
        server.call('DELETE /tools/id/reused/delete', { token }),
        server.call('POST /tools/id/reused/update', { token, body: shared }),
      ]);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
      const again = await server.call('POST /tools/create', { token, body: form('reused') });
      expect(again.body.access_grants).toEqual([]);
      expect((await server.call('GET /tools/id/reused', { token: stranger.token })).status).toBe(401);
      await server.call('DELETE /tools/id/reused/delete', { token });
    }
  });

  it('that deletes the tool returns a result, and the tool is gone', async () => {
    const { status, body } = await server.call('DELETE /tools/id/CHANGING/delete', { token: author.token });
    expect([status, body]).toEqual([200, { result: true }]);
    expect((await server.call('GET /tools/id/changing', { token: author.token })).status).toBe(404);
  });
});

describe('without Python', () => {
  it('tools answer 503 with the reason, and the rest of the server works', async () => {
    const bare = await startServer({ env: { PYTHON: '/dev/null' } });
    const { token } = await signUp(bare, 'Ada');
    const { status, body } = await bare.call('POST /tools/create', { token, body: form('dice') });
    expect([status, body.code]).toEqual([503, 'python_unavailable']);
    expect(body.detail).not.toBe('');
    expect((await bare.call('GET /tools', { token })).body).toEqual([]);
    await bare.close();
  });
});
