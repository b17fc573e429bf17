import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { parseRaw, request, sendRaw } from './raw.ts';
import { startToy } from './toy.ts';

const toy = await startToy();
afterAll(() => toy.close());

const raw = async (text: string) => parseRaw(await sendRaw(toy.port, text));

describe('the headers of every answer', () => {
  const ANSWERS = {
    success: request('GET /api/v1/things'),
    'a failed call': request('GET /api/v1/fail?how=bug'),
    'a refused input': request('GET /api/v1/things?limit=x'),
    'an unknown path': request('GET /nothing'),
    'a wrong method': request('PUT /api/v1/touch', { 'Content-Length': '0' }),
    'a method that Node knows and we do not': request('PROPFIND /api/v1/touch'),
    'a bad address': request('GET /%zz'),
    'a parameter too long for the router': request(`GET /api/v1/things/${'x'.repeat(16_000)}`),
    'OPTIONS on a path': request('OPTIONS /api/v1/touch'),
    'OPTIONS *': request('OPTIONS *'),
    'malformed HTTP': 'nonsense\r\n\r\n',
    'headers too large': request('GET /api/v1/things', { 'X-Long': 'x'.repeat(20_000) }),
    'two lengths': request('POST /api/v1/optional', { 'Content-Length': '1', 'content-length': '2' }),
    'no host': 'GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n',
    'an unknown expectation': request('GET /api/v1/things', { Expect: 'miracles' }),
    'an unknown socket': request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' }),
    'a malformed body': `${request('POST /api/v1/optional', { 'Content-Type': 'application/json', 'Content-Length': '1' })}{`,
    'a tRPC call': request('GET /trpc/things.list?input=%7B%7D'),
    'a failed tRPC call': request('GET /trpc/whoami'),
    'an unknown tRPC call': request('GET /trpc/nothing'),
    'a wrong tRPC method': request('DELETE /trpc/whoami'),
  };

  it.each(Object.entries(ANSWERS))('are complete for %s', async (_name, text) => {
    const { status, headers } = await raw(text);
    expect(status).toBeGreaterThanOrEqual(200);
    expect(headers['x-process-time']).toMatch(/^\d+\.\d{6}$/);
    expect(headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it.each([
    ['malformed HTTP', 400],
    ['two lengths', 400],
    ['headers too large', 431],
    ['an unknown socket', 404],
    ['a method that Node knows and we do not', 405],
    ['a bad address', 400],
  ] as const)('come with JSON for a failure: %s, %i', async (name, status) => {
    const answer = await raw(ANSWERS[name]);
    expect(answer.status).toBe(status);
    if (answer.body !== '') expect(JSON.parse(answer.body)).toMatchObject({ code: expect.any(String) });
  });

  it('forbid framing, sniffing and scripts', async () => {
    const { headers } = await raw(request('GET /api/v1/things'));
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  });

  it('keep a valid request id of the caller, and replace an invalid one', async () => {
    const idFor = async (offered: string) =>
      (await raw(request('GET /api/v1/things', { 'X-Request-Id': offered }))).headers['x-request-id'];
    expect(await idFor('trace-1.A_b')).toBe('trace-1.A_b');
    for (const offered of ['', 'a b', 'ü', '<script>', 'x'.repeat(65)])
      expect(await idFor(offered)).not.toBe(offered);
  });

  it('include a different id for each request', async () => {
    const ids = new Set<string | undefined>();
    for (let i = 0; i < 5; i += 1)
      ids.add((await raw(request('GET /api/v1/things'))).headers['x-request-id']);
    expect(ids.size).toBe(5);
  });
});

describe('refuses an odd request line and logs nothing:', () => {
  it.each([
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a broken preface, which HTTP/0.9 allows', 'PRI *dHTTP/2.0\r\n\r\n', 404],
    ['an RTSP method', 'DESCRIBE /a RTSP/1.0\r\n\r\n', 404],
    ['HTTP/0.9', 'GET /nothing\r\n\r\n', 404],
    ['a version that does not exist', request('GET /api/v1/things').replace('HTTP/1.1', 'HTTP/3.7'), 400],
    ['*', request('DELETE *'), 404],
    ['an address of another server', request('GET http://other.example/nothing'), 404],
    ['an address without a server', request('GET http://['), 400],
    ['a tunnel', request('CONNECT other.example:443'), 400],
    ['the authority only', request('GET other.example:443'), 400],
    ['a path without a slash', request('GET nothing'), 400],
    ['two slashes', request('GET //api/v1/things'), 404],
    ['a control character', request('GET /\x7f'), 400],
  ])('%s', async (_name, text, expected) => {
    toy.logged.length = 0;
    const { status, body } = await raw(text);
    expect(status).toBe(expected);
    expect(JSON.parse(body)).toMatchObject({ code: expected === 404 ? 'not_found' : 'bad_request' });
    expect(toy.logged).toEqual([]);
  });
});

describe('connections', () => {
  it('answer a client that offers h2c in HTTP/1.1', async () => {
    const offer = {
      Connection: 'close, Upgrade, HTTP2-Settings',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAMAAABk',
    };
    expect((await raw(request('GET /api/v1/things', offer))).status).toBe(200);
  });

  it('that are lost in the middle of a body do not stop the server', async () => {
    toy.logged.length = 0;
    const head = { 'Content-Type': 'application/json', 'Content-Length': '100', Connection: 'keep-alive' };
    await new Promise<void>((resolve) => {
      const socket = connect(toy.port, '127.0.0.1', () => {
        socket.write(`${request('POST /api/v1/optional', head)}{`, () => socket.resetAndDestroy());
      });
      socket.on('close', () => resolve());
    });
    expect((await fetch(`${toy.url}/api/v1/things`)).status).toBe(200);
    expect(toy.logged).toEqual([]);
  });
});

describe('the caller', () => {
  const whoami = async (headers: Record<string, string>) => {
    const { status, body } = await raw(request('GET /api/v1/whoami', headers));
    return status === 200 ? JSON.parse(body).id : status;
  };

  it.each([
    [{ Authorization: 'Bearer member-token' }, 'member'],
    [{ Authorization: 'bEaReR  admin-token' }, 'admin'],
    [{ 'x-api-key': 'admin-token' }, 'admin'],
    [{ Cookie: 'a=b; token=member-token; c=d' }, 'member'],
    [
      { Authorization: 'Bearer admin-token', 'x-api-key': 'member-token', Cookie: 'token=member-token' },
      'admin',
    ],
    [{ 'x-api-key': 'admin-token', Cookie: 'token=member-token' }, 'admin'],
    [{ Authorization: 'Basic eDp5', Cookie: 'token=member-token' }, 'member'],
    [{ Authorization: 'Bearer', 'x-api-key': 'member-token' }, 'member'],
    [{ Authorization: 'Bearer wrong', Cookie: 'token=member-token' }, 401],
    [{ Authorization: 'Bearer pending-token' }, 'pending'],
    [{ Cookie: 'tokens=member-token' }, 401],
    [{}, 401],
  ])('of a request with %j is %s', async (headers, expected) => {
    expect(await whoami(headers as Record<string, string>)).toBe(expected);
  });

  it('without credentials gets 401 with WWW-Authenticate', async () => {
    for (const path of ['/api/v1/whoami', '/trpc/whoami']) {
      const { status, headers } = await raw(request(`GET ${path}`));
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
    }
  });

  const touch = async (headers: Record<string, string>) =>
    (
      await raw(
        request('POST /api/v1/touch', { Cookie: 'token=member-token', 'Content-Length': '0', ...headers }),
      )
    ).status;

  it.each([
    [{ Origin: 'http://chat.example.com' }, 200],
    [{ Origin: 'https://chat.example.com', 'X-Forwarded-Proto': 'https' }, 200],
    [{ 'Sec-Fetch-Site': 'same-origin' }, 200],
    [{ Authorization: 'Bearer member-token', Origin: 'http://evil.example' }, 200],
    [{}, 403],
    [{ Origin: 'http://evil.example' }, 403],
    [{ Origin: 'https://chat.example.com' }, 403],
    [{ Origin: 'http://chat.example.com:81' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'same-site' }, 403],
    [{ 'Sec-Fetch-Site': 'none' }, 403],
  ])('that sends a cookie and %j to change something gets %i', async (headers, status) => {
    expect(await touch(headers as Record<string, string>)).toBe(status);
  });

  it('has the address of the socket, whatever the headers claim', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9', 'User-Agent': 'test' };
    const { body } = await raw(request('GET /api/v1/surroundings', headers));
    expect(JSON.parse(body)).toMatchObject({ ip: '127.0.0.1', userAgent: 'test', sameOrigin: false });
  });

  it('gets a cookie that scripts and other sites cannot use, and signing out clears it', async () => {
    const set = await raw(request('POST /api/v1/signin', { 'Content-Length': '0' }));
    expect(set.headers['set-cookie']).toBe(
      'token=member-token; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT; HttpOnly; SameSite=Lax',
    );
    const clear = await raw(request('POST /api/v1/signout', { 'Content-Length': '0' }));
    expect(clear.headers['set-cookie']).toBe(
      'token=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax',
    );
    const secure = await raw(
      request('POST /trpc/signIn', {
        'Content-Type': 'application/json',
        'Content-Length': '0',
        'X-Forwarded-Proto': 'https',
      }),
    );
    expect(secure.headers['set-cookie']).toMatch(/; Secure/);
  });
});

describe('other origins', () => {
  const ORIGIN = 'https://app.example.com';
  const preflight = {
    Origin: ORIGIN,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type',
  };
  const corsOf = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control')));
  const exposed = 'X-Process-Time, X-Request-Id, X-Ignored-Members, X-Changed-Settings, Retry-After';

  const ask = async (origins: string[], text: string) => {
    const other = await startToy({ CORS_ALLOW_ORIGIN: origins });
    try {
      return parseRaw(await sendRaw(other.port, text));
    } finally {
      await other.close();
    }
  };

  it('get no headers unless an origin is configured', async () => {
    const { headers, status } = await raw(request('OPTIONS /api/v1/touch', preflight));
    expect([status, corsOf(headers)]).toEqual([204, {}]);
    expect(corsOf((await raw(request('GET /api/v1/things', { Origin: ORIGIN }))).headers)).toEqual({});
  });

  it('may call when they are listed, and may read our headers', async () => {
    const { headers, status } = await ask([ORIGIN], request('OPTIONS /api/v1/touch', preflight));
    expect(status).toBe(204);
    expect(corsOf(headers)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    });
    expect(headers['x-process-time']).toMatch(/^\d+\.\d{6}$/);
    const failed = await ask([ORIGIN], request('GET /api/v1/nothing', { Origin: ORIGIN }));
    expect([
      failed.status,
      failed.headers['access-control-allow-origin'],
      failed.headers['access-control-expose-headers'],
    ]).toEqual([404, ORIGIN, exposed]);
    const trpc = await ask([ORIGIN], request('GET /trpc/whoami', { Origin: ORIGIN }));
    expect([trpc.status, trpc.headers['access-control-allow-origin']]).toEqual([401, ORIGIN]);
  });

  it('are refused when another origin is listed', async () => {
    const { headers } = await ask(['https://other.example'], request('OPTIONS /api/v1/touch', preflight));
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('may all call without credentials under *', async () => {
    const { headers } = await ask(['*'], request('GET /api/v1/things', { Origin: ORIGIN }));
    expect(corsOf(headers)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': exposed,
    });
  });
});

describe('a server that stops', () => {
  it('lets running calls finish and accepts no new ones', async () => {
    const other = await startToy();
    const call = fetch(`${other.url}/api/v1/things`);
    expect((await call).status).toBe(200);
    await other.close();
    await expect(fetch(`${other.url}/api/v1/things`)).rejects.toThrow();
  });
});
