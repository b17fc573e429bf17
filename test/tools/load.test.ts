import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEgress, type Egress, type EgressRequest } from '../../src/egress/egress.ts';
import { egressToHere, startTarget, type Target } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';

const SOURCE = 'class Tools:\n    def f(self): return "ü"\n';
const json = (value: unknown) => JSON.stringify(value);
const files = (...names: string[]) => json(names.map((name) => ({ name, type: 'file' })));

/** The answers of the hosts, by host and path; one server of this test plays all of them. */
const ANSWERS: Record<string, string> = {
  'raw.githubusercontent.com/o/r/main/dir/weather.py': SOURCE,
  'raw.githubusercontent.com/o/r/v1.2/dir/main.py': SOURCE,
  'raw.githubusercontent.com/o/r/feature/x/my%20tool/tool.py': SOURCE,
  'raw.githubusercontent.com/o/r/0123456789abcdef/dir/weather.py': SOURCE,
  'raw.githubusercontent.com/o/r/HEAD/tools.py': SOURCE,
  'raw.githubusercontent.com/o/r/main/main.py': SOURCE,
  'raw.githubusercontent.com/o/r/feature/y/odd/odd.py': SOURCE,
  'api.github.com/repos/o/r/contents/odd?ref=feature%2Fy': files('README.md', 'odd.py'),
  'api.github.com/repos/o/r/contents/many?ref=main': files('a.py', 'b.py'),
  'api.github.com/repos/o/r/contents/none?ref=main': files('README.md'),
  'api.github.com/repos/o/r/contents/strange?ref=main': '{"message": "hm"}',
  'api.github.com/gists/0123456789abcdef0123456789abcdef': json({
    files: {
      'a.md': { filename: 'a.md', raw_url: 'http://gist.githubusercontent.com:PORT/a.md' },
      'dice.py': { filename: 'dice.py', raw_url: 'http://gist.githubusercontent.com:PORT/dice.py' },
    },
  }),
  'api.github.com/gists/aaaaaaaaaaaaaaaaaaaaaaaa/0123456789': json({
    files: { 'x.py': { filename: 'x.py', raw_url: 'http://127.0.0.2:PORT/x.py' } },
  }),
  'gist.githubusercontent.com/dice.py': SOURCE,
  'gitlab.com/g/sub/p/-/raw/main/dir/weather.py': SOURCE,
  'gitlab.com/g/sub/p/-/raw/v2/dir/tools.py': SOURCE,
  'gitlab.com/g/p/-/raw/HEAD/only.py': SOURCE,
  'gitlab.com/g/p/-/raw/main/tool.py': SOURCE,
  'gitlab.com/api/v4/projects/g%2Fp/repository/tree?ref=HEAD&path=&per_page=100': json([
    { name: 'only.py', type: 'blob' },
    { name: 'lib.py', type: 'tree' },
  ]),
  'gitlab.com/-/snippets/42/raw': SOURCE,
  'codeberg.org/o/r/raw/branch/main/dir/weather.py': SOURCE,
  'codeberg.org/o/r/raw/tag/v1/dir/main.py': SOURCE,
  'codeberg.org/o/r/raw/tag/v1/main.py': SOURCE,
  'codeberg.org/api/v1/repos/o/r/raw/tool.py': SOURCE,
  'codeberg.org/o/r/raw/commit/0123/deep/one.py': SOURCE,
  'codeberg.org/api/v1/repos/o/r/contents/deep?ref=0123': files('one.py'),
  'files.example/a/weather.py?raw=1': SOURCE,
  'files.example/a/weather/tool.py': SOURCE,
  'files.example/large.py': 'x'.repeat(1024 * 1024 + 1),
  'files.example/empty.py': ' \n',
  'files.example/page': '<!doctype html><p>hello',
  'files.example/latin.py': '\xff',
};

/** Hook for each outgoing request; tests replace it. */
let onFetch = (request: EgressRequest): EgressRequest => request;
const way = egressToHere();
const egress: Egress = { ...way, fetch: (url, request) => way.fetch(url, onFetch(request)) };
/** Responses that are never sent. */
const silent: ServerResponse[] = [];
let target: Target;
let server: TestServer;
let admin: Person;
let user: Person;

beforeAll(async () => {
  target = await startTarget(({ url, headers }, response) => {
    const host = headers.host?.split(':')[0];
    const answer = ANSWERS[`${host}${url}`];
    if (url === '/inward') response.writeHead(302, { location: 'http://127.0.0.2/' }).end();
    else if (url === '/moved') response.writeHead(302, { location: '/a/weather.py?raw=1' }).end();
    else if (url === '/broken') response.writeHead(500).end();
    else if (url?.includes('/limited')) response.writeHead(403, { 'x-ratelimit-remaining': '0' }).end();
    else if (url === '/secret') response.writeHead(403).end();
    else if (url === '/dripping') response.write('class Tools:');
    else if (url === '/silent') silent.push(response);
    else if (answer === undefined) response.writeHead(404).end('404: Not Found');
    else
      response.end(url === '/latin.py' ? Buffer.from([0xff]) : answer.replaceAll('PORT', `${target.port}`));
  });
  server = await startServer({ egress });
  admin = await signUp(server, 'Admin');
  user = await signUpAs(server, admin, 'User', 'user');
});
afterAll(async () => {
  await server.close();
  await egress.close();
  await target.close();
});

const loadAs = (token: string | undefined, url: unknown) =>
  server.call('POST /tools/load/url', { token, body: { url } });
/** Loads a tool from an address without scheme and port. */
function load(address: string) {
  const [, host, path] = /^([^/]+)(.*)$/.exec(address) ?? [];
  return loadAs(admin.token, `http://${host}:${target.port}${path}`);
}

describe('loads a tool from', () => {
  it.each([
    ['github.com/o/r/blob/main/dir/weather.py', 'weather'],
    ['github.com/o/r/raw/main/dir/weather.py', 'weather'],
    ['github.com/o/r/blob/0123456789abcdef/dir/weather.py?plain=1#L3', 'weather'],
    ['github.com/o/r/tree/v1.2/dir/', 'dir'],
    ['github.com/o/r/tree/feature/x/my%20tool', 'my tool'],
    ['github.com/o/r/tree/feature/y/odd', 'odd'],
    ['github.com/o/r', 'r'],
    ['github.com/o/r/blob/main/main.py', 'r'],
    ['raw.githubusercontent.com/o/r/v1.2/dir/main.py', 'dir'],
    ['gist.github.com/somebody/0123456789abcdef0123456789abcdef', 'dice'],
    ['gist.github.com/0123456789abcdef0123456789abcdef', 'dice'],
    ['gitlab.com/g/sub/p/-/blob/main/dir/weather.py?ref_type=heads', 'weather'],
    ['gitlab.com/g/sub/p/-/raw/main/dir/weather.py', 'weather'],
    ['gitlab.com/g/sub/p/-/tree/v2/dir', 'dir'],
    ['gitlab.com/g/p', 'only'],
    ['gitlab.com/g/p/-/blob/main/tool.py', 'p'],
    ['gitlab.com/-/snippets/42', '42'],
    ['codeberg.org/o/r/src/branch/main/dir/weather.py', 'weather'],
    ['codeberg.org/o/r/raw/branch/main/dir/weather.py', 'weather'],
    ['codeberg.org/o/r/src/tag/v1/dir', 'dir'],
    ['codeberg.org/o/r/src/commit/0123/deep', 'one'],
    ['codeberg.org/o/r', 'r'],
    ['codeberg.org/o/r/src/tag/v1/main.py', 'r'],
    ['codeberg.org/o/r/raw/tag/v1/main.py', 'r'],
    ['files.example/a/weather.py?raw=1', 'weather'],
    ['files.example/a/weather/tool.py', 'weather'],
    ['files.example/moved', 'moved'],
  ])('%s', async (address, name) => {
    const { status, body } = await load(address);
    expect([status, body]).toEqual([200, { name, content: SOURCE }]);
  });
});

describe('refuses an address:', () => {
  it.each([
    ['github.com/o/r/blob/main/nothing.py', 400, 'nothing under'],
    ['github.com/o/r/tree/main/nothing', 400, 'no such folder'],
    ['github.com/o/r/tree/main/many', 400, 'several Python files (a.py, b.py)'],
    ['github.com/o/r/tree/main/none', 400, 'no Python file'],
    ['github.com/o/r/tree/main/strange', 502, 'not a list of files'],
    ['github.com/o/r/tree/main/limited', 502, 'lets this server ask no more'],
    ['gist.github.com/aaaaaaaaaaaaaaaaaaaaaaaa/0123456789', 400, '127.0.0.2 is no public address'],
    ['files.example/large.py', 400, '1048576 bytes'],
    ['files.example/empty.py', 400, 'empty'],
    ['files.example/page', 400, 'a page for people'],
    ['files.example/latin.py', 400, 'UTF-8'],
    ['files.example/secret', 400, 'status 403'],
    ['files.example/broken', 502, 'status 500'],
    ['files.example/%E0%A4%A', 400, 'no text'],
    ['files.example/inward', 400, '127.0.0.2 is no public address'],
    ['127.0.0.2/a.py', 400, '127.0.0.2 is no public address'],
  ])('%s', async (address, status, words) => {
    const answer = await load(address);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(words)]);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://files.example/a.py',
    'http://user:pass@files.example/a.py',
    'http://127.0.0.2\\@files.example/a.py',
    'http://[::ffff:127.0.0.2]/a.py',
    'http://0x7f000002/a.py',
    'http://metadata.google.internal/a.py',
    'files.example/a.py',
    'http://',
  ])('%s', async (url) => {
    expect(await loadAs(admin.token, url)).toMatchObject({ status: 400, body: { code: 'address_refused' } });
  });

  it.each([undefined, null, 7, '', ['http://files.example'], `http://files.example/${'a'.repeat(2048)}`])(
    'malformed: %s',
    async (url) => {
      expect(await loadAs(admin.token, url)).toMatchObject({ status: 400, body: { code: 'validation' } });
    },
  );

  it('for callers other than administrators, before it fetches anything', async () => {
    const { length } = target.heard;
    const url = `http://files.example:${target.port}/a/weather.py?raw=1`;
    for (const token of [undefined, 'wrong', user.token]) {
      expect((await loadAs(token, url)).status).toBe(401);
    }
    expect(target.heard).toHaveLength(length);
  });
});

describe('a time limit ends a load from a slow server:', () => {
  afterEach(() => {
    vi.useRealTimers();
    onFetch = (request) => request;
  });
  const slow = (host: string) => ({
    status: 502,
    body: { code: 'upstream_failed', detail: `${host}:${target.port} did not answer within 10 s.` },
  });

  it.each(['silent', 'dripping'])('%s', async (path) => {
    const limits: number[] = [];
    onFetch = (request) => {
      limits.push(request.timeoutMs);
      return { ...request, timeoutMs: 100 };
    };
    expect(await load(`files.example/${path}`)).toMatchObject(slow('files.example'));
    expect(limits).toHaveLength(1);
    expect(limits[0]).toBeLessThanOrEqual(10_000);
    expect(limits[0]).toBeGreaterThan(0);
  });

  it('one limit holds for all requests of a load together', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const limits: number[] = [];
    onFetch = (request) => {
      limits.push(request.timeoutMs);
      vi.advanceTimersByTime(4_000);
      return request;
    };
    // Three file names are tried; no time is left for the listing of the folder.
    expect(await load('github.com/o/r/tree/main/many')).toMatchObject(slow('api.github.com'));
    expect(limits).toEqual([10_000, 6_000, 2_000]);
  });

  it('a caller that disconnects ends the request', async () => {
    const leaving = new AbortController();
    const url = `http://files.example:${target.port}/silent`;
    const body = JSON.stringify({ url });
    const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' };
    silent.length = 0;
    const asked = fetch(`${server.url}/api/v1/tools/load/url`, {
      method: 'POST',
      headers,
      body,
      signal: leaving.signal,
    }).catch(() => 'gone');
    await until('the request to come', () => silent.length === 1);
    leaving.abort();
    expect(await asked).toBe('gone');
    await until('it to be given up', () => silent[0]?.destroyed === true);
  });
});

describe('a name server that changes its mind', () => {
  it('is asked once for each connection, and the connection uses its answer', async () => {
    const asked: string[] = [];
    const flipping = createEgress({
      resolve: async (host) => [asked.push(host) % 2 === 1 ? '127.0.0.1' : '127.0.0.2'],
      mayConnect: (address) => address === '127.0.0.1',
    });
    const other = await startServer({ egress: flipping });
    const boss = await signUp(other, 'Admin');
    const body = { url: `http://files.example:${target.port}/a/weather.py?raw=1` };
    const ask = () => other.call('POST /tools/load/url', { token: boss.token, body });
    expect((await ask()).body).toEqual({ name: 'weather', content: SOURCE });
    expect(asked).toEqual(['files.example']);
    // The next connection gets another answer. The first connection stays open at both ends.
    const elsewhere = { url: body.url.replace('files.example', 'other.example') };
    const refused = await other.call('POST /tools/load/url', { token: boss.token, body: elsewhere });
    expect(refused).toMatchObject({ status: 400, body: { code: 'address_refused' } });
    await other.close();
    await flipping.close();
  });
});
