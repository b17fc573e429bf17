import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolVersionView } from '../../src/tools/versions/versions.schema.ts';
import type { Person } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { openWorkshop } from './workshop.ts';

const source = (answer: number) =>
  `"""\nversion: ${answer}\n"""\nclass Tools:\n    def f(self): return ${answer}\n`;

const shop = await openWorkshop();
afterAll(() => shop.close());
const change = (person: Person, content: string, more: object = {}) =>
  shop.as(person, 'POST', 'answer/update', { name: 'answer', content, meta: {}, ...more });
await shop.create('answer', source(1));
await change(shop.author, source(2));
await change(shop.writer, source(3));

const versions = async () => (await shop.as(shop.author, 'GET', 'answer/versions')).body;
const answer = async () => (await shop.as(shop.reader, 'POST', 'answer/call', { function: 'f' })).body.result;

describe('versions of a tool', () => {
  it('are listed with author and time, newest first', async () => {
    const body = await versions();
    expect(z.array(ToolVersionView.strict()).parse(body)).toEqual(body);
    expect(body).toMatchObject([
      { version: 3, user: { id: shop.writer.id, name: 'Writer' }, restored_from: null },
      { version: 2, user_id: shop.author.id },
      { version: 1, size: source(1).length },
    ]);
    const page = await shop.as(shop.author, 'GET', 'answer/versions?skip=1&limit=1');
    expect(page.body.map(({ version }: { version: number }) => version)).toEqual([2]);
  });

  it('are made only by a change of the source', async () => {
    await change(shop.author, source(3), { name: 'Renamed' });
    expect((await change(shop.author, 'class Tools: pass\nraise ValueError()')).status).toBe(400);
    expect(await versions()).toHaveLength(3);
    // The stored source has other imports than the sent one; sending the same source again makes no version.
    await shop.create(
      'moved',
      'try:\n    from utils.misc import x\nexcept ImportError: pass\nclass Tools: pass\n',
    );
    await shop.as(shop.author, 'POST', 'moved/update', {
      name: 'moved',
      content: 'try:\n    from utils.misc import x\nexcept ImportError: pass\nclass Tools: pass\n',
      meta: {},
    });
    expect((await shop.as(shop.author, 'GET', 'moved/versions')).body).toHaveLength(1);
  });

  it('can be read and restored as a new version, with all that is made from the source', async () => {
    const { body } = await shop.as(shop.writer, 'GET', 'answer/versions/1');
    expect(body).toMatchObject({ version: 1, content: source(1) });
    expect(await answer()).toBe(3);
    const restored = await shop.as(shop.writer, 'POST', 'answer/versions/1/restore');
    expect(restored).toMatchObject({
      status: 200,
      body: { content: source(1), meta: { manifest: { version: '1' } } },
    });
    expect(await answer()).toBe(1);
    expect((await versions())[0]).toMatchObject({ version: 4, restored_from: 1, user_id: shop.writer.id });
    // Restoring the current version makes no new one.
    await shop.as(shop.writer, 'POST', 'answer/versions/4/restore');
    expect(await versions()).toHaveLength(4);
  });

  it('of concurrent changes are all stored, each with its own number', async () => {
    const answers = await Promise.all([5, 6, 7, 8].map((n) => change(shop.author, source(n))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const numbers = (await versions()).map(({ version }: { version: number }) => version);
    expect(numbers).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it.each([
    ['GET', 'answer/versions'],
    ['GET', 'answer/versions/1'],
    ['POST', 'answer/versions/1/restore'],
  ])('%s %s requires write access', async (method, path) => {
    for (const person of [null, shop.stranger, shop.reader]) {
      expect((await shop.as(person, method, path)).status).toBe(401);
    }
    expect((await shop.as(shop.admin, method, path)).status).toBe(200);
    expect((await shop.as(shop.author, method, path.replace('answer', 'nothing'))).status).toBe(404);
  });

  it('are restored only with the permission to author', async () => {
    await shop.permit('workspace.tools', false);
    const { body } = await shop.as(shop.author, 'POST', 'answer/versions/2/restore');
    expect(body.code).toBe('tool_forbidden');
    await shop.permit('workspace.tools', true);
  });

  it.each([
    ['99', 404],
    ['0', 400],
    ['-1', 400],
    ['1.5', 400],
    ['first', 404],
    ['99999999999', 400],
  ])('number %s answers %i', async (version, status) => {
    expect((await shop.as(shop.author, 'GET', `answer/versions/${version}`)).status).toBe(status);
    expect((await shop.as(shop.author, 'POST', `answer/versions/${version}/restore`)).status).toBe(status);
  });

  it('beyond 1000, or beyond 64 MiB, are deleted from the oldest on', async () => {
    const { database } = shop.server;
    const kept = async (id: string) => {
      const [row] = await database.query<{ n: number; oldest: number; newest: number }>(
        'select count(*)::int as n, min(version) as oldest, max(version) as newest from tool_version where tool_id = $1',
        [id],
      );
      return row;
    };
    /** Stores this number of versions, each with a source of this size. */
    const grow = async (id: string, versions: number, bytes: number) => {
      await shop.create(id, source(1));
      await database.query(
        `insert into tool_version (tool_id, version, user_id, content, created_at)
           select $1, n, $2, repeat('#', $4), 0 from generate_series(2, $3::int) n`,
        [id, shop.author.id, versions, bytes],
      );
      await database.query('update tool set version = $2 where id = $1', [id, versions]);
      const { status } = await shop.as(shop.author, 'POST', `${id}/update`, {
        name: id,
        content: source(2),
        meta: {},
      });
      expect(status).toBe(200);
    };
    await grow('often', 1_200, 10);
    expect(await kept('often')).toEqual({ n: 1_000, oldest: 202, newest: 1_201 });
    await grow('large', 80, 2 ** 20);
    // The newest is small, and 63 large ones fit beside it.
    expect(await kept('large')).toEqual({ n: 64, oldest: 18, newest: 81 });
    expect((await shop.as(shop.author, 'GET', 'large/versions/17')).status).toBe(404);
    expect((await shop.as(shop.author, 'POST', 'large/versions/18/restore')).status).toBe(400);
  });

  it('count toward the storage of the owner when restored', async () => {
    const quota = (storage_bytes: number) =>
      shop.configure(({ limits }) => Object.assign(limits, { storage_bytes }));
    await quota(1);
    const refused = await shop.as(shop.writer, 'POST', 'answer/versions/2/restore');
    await quota(0);
    expect([refused.status, refused.body.code]).toEqual([507, 'quota_exceeded']);
    expect(await answer()).toBe(1);
  });

  it.each(['versions', 'runs'])('a list of %s reads no source, and runs two statements', async (path) => {
    await shop.as(shop.author, 'GET', `answer/${path}`);
    const statements = await recordStatements(() => shop.as(shop.author, 'GET', `answer/${path}`));
    expect(statements.filter((text) => /from tool/.test(text))).toHaveLength(2);
    const read = statements.map((text) => text.replace('octet_length(v.content)', ''));
    expect(read.filter((text) => text.includes('content'))).toEqual([]);
  });

  it('are deleted with their tool', async () => {
    await shop.create('brief', source(1));
    await shop.as(shop.author, 'DELETE', 'brief/delete');
    await shop.create('brief', source(2));
    expect((await shop.as(shop.author, 'GET', 'brief/versions')).body).toHaveLength(1);
  });
});

describe('the history that clients of Open WebUI ask for', () => {
  const created = shop.create('story', source(1));
  const as = (method: string, path: string, body?: object, person = shop.writer) =>
    shop.as(person, method, `story/${path}`, body);

  it('names the versions by texts, with their parents, and the current one', async () => {
    expect((await created).body.version_id).toBe('1');
    const body = {
      name: 'story',
      content: source(2).replaceAll('\n', '\r\n'),
      meta: { description: 'Tells' },
      commit_message: 'Answers two',
    };
    expect((await as('POST', 'update', body)).body.version_id).toBe('2');
    const history = await as('GET', 'history');
    expect(history.body).toMatchObject([
      { id: '2', tool_id: 'story', parent_id: '1', user: { name: 'Writer' }, commit_message: 'Answers two' },
      { id: '1', parent_id: null, user_id: shop.author.id, commit_message: null },
    ]);
    expect((await as('GET', 'history?page=2')).body).toEqual([]);
    const [listed] = (await shop.server.call('GET /tools/list', { token: shop.writer.token })).body.filter(
      ({ id }: { id: string }) => id === 'story',
    );
    expect(listed.version_id).toBe('2');
  });

  it('shows and compares versions', async () => {
    const { body: entry } = await as('GET', 'history/1');
    const meta = { description: 'Tells' };
    expect(entry).toMatchObject({ id: '1', snapshot: { name: 'story', content: source(1), meta } });
    const { body: diff } = await as('GET', 'history/diff?from_id=1&to_id=2');
    expect(diff).toMatchObject({ from_id: '1', to_id: '2', metadata: {}, line_endings_only: false });
    expect(diff.content_diff.split('\n')).toEqual([
      '--- selected.py',
      '+++ production.py',
      '@@ -1,5 +1,5 @@',
      ' """',
      '-version: 1',
      '+version: 2',
      ' """',
      ' class Tools:',
      '-    def f(self): return 1',
      '+    def f(self): return 2',
    ]);
  });

  it('bounds a comparison of sources that differ in every line', async () => {
    const lines = (mark: string) => Array.from({ length: 9_000 }, (_, n) => `# ${mark}${n}`).join('\n');
    for (const mark of ['a', 'b']) {
      const content = `class Tools: pass\n${lines(mark)}\n`;
      expect((await as('POST', 'update', { name: 'story', content, meta: {} })).status).toBe(200);
    }
    const { body: diff } = await as('GET', 'history/diff?from_id=3&to_id=4');
    expect(diff.content_diff.split('\n')).toHaveLength(18_003 + 2);
  });

  it('restores a version, and deletes versions that are not current', async () => {
    const restored = await as('POST', 'update/version', { version_id: '1' });
    expect(restored.body).toMatchObject({ content: source(1), version_id: '5' });
    expect((await as('DELETE', 'history/5')).status).toBe(400);
    expect(await as('DELETE', 'history/2')).toMatchObject({ status: 200, body: true });
    const history = (await as('GET', 'history')).body;
    expect(history.map(({ id, parent_id }: Record<string, string>) => [id, parent_id])).toEqual([
      ['5', '4'],
      ['4', '3'],
      ['3', '1'],
      ['1', null],
    ]);
    for (const id of ['2', '0', '99999999999', 'none'])
      for (const method of ['GET', 'DELETE']) expect((await as(method, `history/${id}`)).status).toBe(404);
    expect((await as('POST', 'update/version', { version_id: '2' })).status).toBe(404);
  });

  it('requires write access, and the list of functions requires read access', async () => {
    const rows = [
      ['GET', 'history'],
      ['GET', 'history/1'],
      ['GET', 'history/diff?from_id=1&to_id=5'],
      ['DELETE', 'history/1'],
      ['POST', 'update/version', { version_id: '1' }],
    ] as const;
    for (const [method, path, body] of rows)
      for (const person of [shop.reader, shop.stranger, null])
        expect((await shop.as(person, method, `story/${path}`, body)).status).toBe(401);
    const specs = [{ name: 'f', description: '' }];
    expect((await as('GET', 'specs', undefined, shop.reader)).body).toEqual({ specs });
    expect((await as('GET', 'specs', undefined, shop.stranger)).status).toBe(401);
  });
});
