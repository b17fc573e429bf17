import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { startToy, stuck } from './toy.ts';

const toy = await startToy();
afterAll(() => toy.close());

const MEMBER = { authorization: 'Bearer member-token' };
const ADMIN = { authorization: 'Bearer admin-token' };
const JSON_TYPE = { 'content-type': 'application/json' };

const get = (path: string, headers: Record<string, string> = MEMBER) => fetch(toy.url + path, { headers });
const post = (path: string, body: unknown, headers: Record<string, string> = MEMBER) =>
  fetch(toy.url + path, {
    method: 'POST',
    headers: { ...headers, ...JSON_TYPE },
    body: JSON.stringify(body),
  });

describe('addresses', () => {
  it.each(['/api/v1/whoami', '/api/v1/whoami/', '/api/whoami', '/api/whoami/'])(
    'answers %s',
    async (path) => {
      const response = await fetch(toy.url + path, { headers: MEMBER, redirect: 'error' });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.json()).toEqual({ id: 'member' });
    },
  );

  it('prefers a static segment to a parameter', async () => {
    expect(await (await get('/api/v1/things/export')).json()).toBe('all');
    expect(await (await get('/api/v1/things/other')).json()).toEqual({ id: 'other', name: 'one' });
  });

  it('decodes path parameters, a slash included', async () => {
    expect(await (await get('/api/v1/things/a%2Fb%20%C3%BC')).json()).toMatchObject({ id: 'a/b ü' });
  });

  it.each(['/api/v1/nothing', '/api/nothing', '/api', '/nothing', '/api/v2/whoami'])(
    'answers 404 for %s',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    },
  );

  it('answers 404 for an unknown address with any body', async () => {
    const body = 'x';
    expect((await fetch(`${toy.url}/api/v1/nothing`, { method: 'POST', body })).status).toBe(404);
  });

  it('answers 405 with the methods of the address', async () => {
    const response = await fetch(`${toy.url}/api/things/export/`, { method: 'PUT', body: 'x' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
  });

  it.each([
    ['DELETE', '/api/v1/things/export', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/things/export/?force=true', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/v1/things/exported', null],
  ])('answers 405 even where another address has a parameter: %s %s', async (method, path, allow) => {
    const response = await fetch(toy.url + path, { method, headers: MEMBER });
    expect([response.status, response.headers.get('allow')]).toEqual([allow ? 405 : 200, allow]);
  });

  it('answers OPTIONS with the methods, and HEAD like GET without a body', async () => {
    const options = await fetch(`${toy.url}/api/v1/touch`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
    const head = await fetch(`${toy.url}/api/v1/whoami`, { method: 'HEAD', headers: MEMBER });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '15', '']);
    expect((await fetch(`${toy.url}/api/v1/touch`, { method: 'HEAD' })).status).toBe(405);
  });

  it('answers 400 for invalid percent-encoding', async () => {
    const response = await get('/api/v1/things/%zz');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'bad_request' });
  });
});

describe('query strings', () => {
  const list = async (query: string) => (await get(`/api/v1/things?${query}`)).json();
  const defaults = { skip: 0, limit: 50 };

  it('fill in defaults and leave out members that were not sent', async () => {
    expect(await list('')).toEqual(defaults);
  });

  it.each([
    ['limit=7&skip=3', { skip: 3, limit: 7 }],
    ['on=true', { ...defaults, on: true }],
    ['on=1', { ...defaults, on: true }],
    ['on=false', { ...defaults, on: false }],
    ['on=0', { ...defaults, on: false }],
    ['on=No', { ...defaults, on: false }],
    ['ratio=-1.5e-3', { ...defaults, ratio: -0.0015 }],
    ['since=1700000000123456000', { ...defaults, since: 1_700_000_000_123_456_000 }],
    ['ids=4', { ...defaults, ids: [4] }],
    ['ids=4&ids=5', { ...defaults, ids: [4, 5] }],
    ['order=asc', { ...defaults, order: 'asc' }],
    ['text=007', { ...defaults, text: '007' }],
    ['text=true', { ...defaults, text: 'true' }],
    ['text=', { ...defaults, text: '' }],
    ['text=a%26b+c', { ...defaults, text: 'a&b c' }],
  ])('are read: %s', async (query, expected) => {
    expect(await list(query)).toEqual(expected);
  });

  it.each([
    'limit=',
    'limit=x',
    'limit=0x10',
    'limit=1.5',
    'limit=0',
    'limit=201',
    'limit=1&limit=2',
    'on=maybe',
    'ids=x',
    'order=up',
    'text=a&text=b',
    'skip=-1',
    'ratio=Infinity',
  ])('are refused with 400: %s', async (query) => {
    const response = await get(`/api/v1/things?${query}`);
    expect(response.status).toBe(400);
    const name = query.split('=', 1)[0] as string;
    const body = (await response.json()) as { detail: string; issues: { path: string }[] };
    expect(body).toMatchObject({ code: 'validation' });
    expect(body.detail).toContain(name);
    expect(body.issues[0]?.path).toMatch(new RegExp(`^${name}`));
  });

  it('carry the input of DELETE', async () => {
    const response = await fetch(`${toy.url}/api/v1/things/x?force=yes`, {
      method: 'DELETE',
      headers: { ...MEMBER, ...JSON_TYPE },
    });
    expect(await response.json()).toEqual({ id: 'x', force: true });
  });

  it('leave the schemas strict for the other doors', async () => {
    const input = encodeURIComponent(JSON.stringify({ limit: '7' }));
    expect((await get(`/trpc/things.list?input=${input}`)).status).toBe(400);
  });

  it('cannot replace a path parameter', async () => {
    const response = await get('/api/v1/things/mine?id=yours');
    expect(await response.json()).toMatchObject({ id: 'mine' });
    expect(response.headers.get('x-ignored-members')).toBe('id');
  });
});

describe('bodies', () => {
  it('are answered with the declared status and only declared members', async () => {
    const response = await post('/api/v1/things', { name: 'new one' }, ADMIN);
    expect([response.status, await response.json()]).toEqual([201, { id: 'new', name: 'new one' }]);
    expect(await (await get('/api/v1/things/x')).json()).not.toHaveProperty('secret');
  });

  it('may have unknown members, which are named at any depth, and free-form members, which are kept', async () => {
    const data = { anything: { goes: [{ here: 1 }] } };
    const grants = [
      { who: 'a', permision: 'read' },
      { who: 'b', permision: 'read' },
    ];
    const response = await post('/api/v1/things/x/update', { id: 'y', nmae: 1, name: 'n', grants, data });
    expect(response.headers.get('x-ignored-members')).toBe('id, nmae, grants[].permision');
    expect(await response.json()).toEqual({ id: 'x', name: 'n', grants: [{ who: 'a' }, { who: 'b' }], data });
  });

  it('get the names of unknown members on a refusal as well', async () => {
    const response = await post('/api/v1/things/x/update', { nmae: 'n' });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-ignored-members')).toBe('nmae');
  });

  it('with hostile names get a short and safe header', async () => {
    const body = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`ü\r\n\ud800${index}${'x'.repeat(500)}`, 1]),
    );
    const response = await post('/api/v1/things/x/update', { name: 'n', ...body });
    const header = response.headers.get('x-ignored-members') as string;
    expect(response.status).toBe(200);
    expect(header.length).toBeLessThanOrEqual(2000);
    expect(header).toMatch(/^%C3%BC%0D%0A%EF%BF%BD0x+\.\.\., /);
  });

  it('may have null in place of an optional member, at every door and level', async () => {
    const sent = { name: 'new', grants: null, data: null, meta: null, list: [{ tag: null, must: 1 }] };
    const expected = { id: 'x', name: 'new', list: [{ must: 1 }] };
    expect(await (await post('/api/v1/things/x/update', sent)).json()).toEqual(expected);
    const answer = await post('/trpc/things.update', { id: 'x', ...sent });
    expect(await answer.json()).toEqual({ result: { data: expected } });
    const batch = await post('/trpc/things.update,touch?batch=1', { 0: { id: 'x', ...sent } });
    expect(await batch.json()).toMatchObject([{ result: { data: expected } }, {}]);
  });

  it('keep null where it has a meaning', async () => {
    const valves = await post('/api/v1/things/x/valves', { a: null });
    expect(await valves.json()).toEqual({ id: 'x', valves: { a: null } });
    expect((await post('/api/v1/things/x/update', { name: null })).status).toBe(400);
    const inside = { name: 'n', data: { a: null }, note: null };
    expect(await (await post('/api/v1/things/x/update', inside)).json()).toEqual({ id: 'x', ...inside });
  });

  it('that are free-form are taken whole: a valve named id is kept', async () => {
    const response = await post('/api/v1/things/x/valves?dry=true', { id: 5, valves: 1, dry: 2 });
    expect(await response.json()).toEqual({ id: 'x', valves: { id: 5, valves: 1, dry: 2 }, dry: true });
    expect(response.headers.has('x-ignored-members')).toBe(false);
  });

  it('that are free-form may be wrapped where the procedure says so', async () => {
    const bare = { a: 1 };
    const both = { config: bare, a: 1 };
    expect(await (await post('/api/v1/things/configure', bare)).json()).toEqual({ config: bare });
    expect(await (await post('/api/v1/things/configure', { config: bare })).json()).toEqual({ config: bare });
    expect(await (await post('/api/v1/things/configure', both)).json()).toEqual({ config: both });
  });

  it.each([[[1]], ['text'], [null], [3]])(
    'that must be free-form objects are refused with 400: %j',
    async (body) => {
      const response = await post('/api/v1/things/x/valves', body);
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
        400,
        'validation',
      ]);
    },
  );

  it('with a number that cannot be stored exactly are refused with 400', async () => {
    const body = '{"a": [1, 1e400]}';
    const headers = { ...MEMBER, ...JSON_TYPE };
    const response = await fetch(`${toy.url}/api/v1/things/x/valves`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({
      code: 'validation',
      detail: expect.stringContaining('1.8e308'),
    });
  });

  it.each([[[1]], ['text'], [null], [3]])('that must be objects are refused with 400: %j', async (body) => {
    const response = await post('/api/v1/things/x/update', body);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      400,
      'validation',
    ]);
  });

  it('may be missing when every member is optional or there is no input', async () => {
    for (const headers of [MEMBER, { ...MEMBER, ...JSON_TYPE }]) {
      const optional = await fetch(`${toy.url}/api/v1/optional`, { method: 'POST', headers });
      expect([optional.status, await optional.json()]).toEqual([200, {}]);
      const touch = await fetch(`${toy.url}/api/v1/touch`, { method: 'POST', headers });
      expect([touch.status, await touch.json()]).toEqual([200, null]);
    }
  });

  it('to a procedure without input get the names of their members', async () => {
    const response = await post('/api/v1/touch?q=1', { a: 1 });
    expect([response.status, response.headers.get('x-ignored-members')]).toEqual([200, 'q, a']);
  });

  const send = (body: string, type?: string) =>
    fetch(`${toy.url}/api/v1/optional`, {
      method: 'POST',
      headers: type === undefined ? {} : { 'content-type': type },
      body: type === undefined ? Buffer.from(body) : body,
    });

  it.each([
    ['{"note":', 'application/json', 400, 'malformed_json'],
    [' ', 'application/json', 400, 'malformed_json'],
    ['{"__proto__": {"note": "x"}}', 'application/json', 400, 'bad_request'],
    ['{}', 'text/plain', 415, 'media_type'],
    ['{}', 'application/x-www-form-urlencoded', 415, 'media_type'],
    ['{}', 'nonsense', 415, 'media_type'],
    ['{}', undefined, 415, 'media_type'],
    [`"${'x'.repeat(4 * 1024 * 1024)}"`, 'application/json', 413, 'too_large'],
  ])('are refused: %.30j as %s with %i', async (body, type, status, code) => {
    const response = await send(body, type);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
  });

  it('may have a charset beside JSON', async () => {
    expect((await send('{"note":"ü"}', 'Application/JSON; charset=utf-8')).status).toBe(200);
  });
});

describe('failures', () => {
  it('include the time to try again', async () => {
    const response = await get('/api/v1/fail?how=limited');
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '42']);
  });

  it.each(['bug', 'output'])('hide an unexpected error (%s) and log it', async (how) => {
    toy.logged.length = 0;
    const response = await get(`/api/v1/fail?how=${how}`);
    const requestId = response.headers.get('x-request-id');
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      detail: 'Something went wrong on the server.',
      code: 'internal',
      request_id: requestId,
    });
    expect(toy.logged).toMatchObject([{ level: 50, request_id: requestId, route: '/api/v1/fail' }]);
    if (how === 'bug') expect(toy.logged).toMatchObject([{ err: { message: 'the password is hunter2' } }]);
  });

  it('that callers cause are not logged', async () => {
    toy.logged.length = 0;
    await get('/api/v1/things?limit=x');
    await get('/api/v1/whoami', {});
    await get('/api/v1/nothing');
    expect(toy.logged).toEqual([]);
  });

  it('of the connection abort the call', async () => {
    const before = { ...stuck };
    const gone = new AbortController();
    const call = fetch(`${toy.url}/api/v1/stuck`, { signal: gone.signal }).catch(() => 'gone');
    await until('the call', () => stuck.entered === before.entered + 1);
    gone.abort();
    expect(await call).toBe('gone');
    await until('the call to hear of it', () => stuck.aborted === before.aborted + 1);
  });
});
