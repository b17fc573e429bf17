import { once } from 'node:events';
import { createTRPCClient, createWSClient, httpBatchLink, TRPCClientError, wsLink } from '@trpc/client';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../support/poll.ts';
import { parseRaw, request, sendRaw } from './raw.ts';
import { flood, startToy, type ToyRouter } from './toy.ts';

const toy = await startToy();
afterAll(() => toy.close());

const MEMBER = { authorization: 'Bearer member-token' };
const JSON_TYPE = { 'content-type': 'application/json' };

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof TRPCClientError)) throw new Error('the call was not refused', { cause: error });
  return { ...error.data, message: error.message };
};

describe('tRPC over HTTP', () => {
  const clientAs = (headers: Record<string, string>, maxItems = 20) =>
    createTRPCClient<ToyRouter>({ links: [httpBatchLink({ url: `${toy.url}/trpc`, headers, maxItems })] });

  it('answers queries and mutations in batches, with the same error codes as REST', async () => {
    const client = clientAs(MEMBER);
    const [me, thing, touched] = await Promise.all([
      client.whoami.query(),
      client.things.get.query({ id: 'a/b' }),
      client.touch.mutate(),
    ]);
    expect([me, thing, touched]).toEqual([{ id: 'member' }, { id: 'a/b', name: 'one' }, null]);
    expect(await refusal(client.things.create.mutate({ name: 'new' }))).toMatchObject({
      httpStatus: 403,
      error_code: 'forbidden',
      detail: expect.any(String),
    });
    expect(await refusal(clientAs({}).whoami.query())).toMatchObject({
      httpStatus: 401,
      error_code: 'unauthenticated',
    });
    expect(await refusal(clientAs({ authorization: 'Bearer pending-token' }).touch.mutate())).toMatchObject({
      httpStatus: 401,
      error_code: 'account_pending',
    });
    expect(await refusal(client.things.list.query({ limit: 0 }))).toMatchObject({
      httpStatus: 400,
      error_code: 'validation',
      issues: [{ path: 'limit' }],
    });
    expect(await refusal(client.fail.query({ how: 'bug' }))).toMatchObject({
      httpStatus: 500,
      error_code: 'internal',
      message: 'Something went wrong on the server.',
    });
  });

  it('refuses a batch of more than twenty calls', async () => {
    const paths = Array.from({ length: 21 }, () => 'whoami').join(',');
    const response = await fetch(`${toy.url}/trpc/${paths}?batch=1&input=%7B%7D`, { headers: MEMBER });
    expect(response.status).toBe(400);
  });

  const post = (path: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
    fetch(`${toy.url}/trpc/${path}`, { method: 'POST', headers: { ...MEMBER, ...headers }, body });

  it('names ignored members, with the number of the call in a batch', async () => {
    const one = await post('optional', '{"nope":1}');
    expect([one.status, one.headers.get('x-ignored-members')]).toEqual([200, 'nope']);
    const two = await post('optional,optional?batch=1', '{"0":{"note":"x"},"1":{"nope":1}}');
    expect(two.headers.get('x-ignored-members')).toBe('1.nope');
  });

  it('sets Retry-After', async () => {
    const input = encodeURIComponent('{"how":"limited"}');
    const response = await fetch(`${toy.url}/trpc/fail?input=${input}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '42']);
  });

  it.each([
    ['{"note":', JSON_TYPE, 400, 'malformed_json'],
    ['{}', { 'content-type': 'text/plain' }, 415, 'media_type'],
    [`"${'x'.repeat(4 * 1024 * 1024)}"`, JSON_TYPE, 413, 'too_large'],
  ])('refuses the body %.20j in the envelope of tRPC', async (body, headers, status, code) => {
    const response = await post('optional', body, headers as Record<string, string>);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { data: { httpStatus: status, error_code: code } },
    });
  });

  it('changes nothing by GET', async () => {
    const response = await fetch(`${toy.url}/trpc/touch`, { headers: MEMBER });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('serves no subscription, which would bypass the switch for event doors', async () => {
    const headers = { ...MEMBER, accept: 'text/event-stream' };
    const response = await fetch(`${toy.url}/trpc/ticks?input=%7B%7D`, { headers });
    const text = await response.text();
    expect(text).toContain('METHOD_NOT_SUPPORTED');
    expect(text).not.toMatch(/^id: /m);
  });
});

describe('tRPC over WebSocket', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  const clientWith = (token?: string) => {
    const ws = createWSClient({
      url: `${toy.url.replace('http', 'ws')}/trpc`,
      ...(token !== undefined && { connectionParams: { token } }),
    });
    closers.push(() => ws.close());
    return createTRPCClient<ToyRouter>({ links: [wsLink({ client: ws })] });
  };

  it('closes a socket without credentials after the time for a sign-in', async () => {
    const brief = await startToy({}, { anonymousMs: 50 });
    closers.push(() => brief.close());
    const call = JSON.stringify({ id: 1, method: 'query', params: { path: 'whoami' } });
    const params = (token: string) => JSON.stringify({ method: 'connectionParams', data: { token } });
    const closed = async (query: string, messages: string[]) => {
      const socket = new WebSocket(`${brief.url.replace('http', 'ws')}/trpc${query}`);
      await once(socket, 'open');
      for (const message of messages) socket.send(message);
      return (await once(socket, 'close'))[0];
    };
    expect(await closed('', [call])).toBe(1008);
    // Announcing credentials without sending them, or sending wrong ones, does not count.
    expect(await closed('?connectionParams=1', ['PONG'])).toBe(1008);
    expect(await closed('?connectionParams=1', [params('wrong'), call])).toBe(1008);
    const stays = new WebSocket(`${brief.url.replace('http', 'ws')}/trpc`, { headers: MEMBER });
    closers.push(() => stays.close());
    await once(stays, 'open');
    // This socket was opened later, and is closed by now.
    expect(await closed('', [])).toBe(1008);
    expect(stays.readyState).toBe(WebSocket.OPEN);
  });

  it.each(['[', 'a b', '%', 'host:99999'])(
    'refuses an upgrade with the host %j, and goes on',
    async (host) => {
      const headers = {
        Host: host,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      };
      const { status, body } = parseRaw(await sendRaw(toy.port, request('GET /trpc', headers)));
      expect([status, JSON.parse(body).code]).toEqual([400, 'bad_request']);
      expect(await whoamiOver(MEMBER)).toBe('member');
    },
  );

  it('uses the account of connectionParams', async () => {
    expect(await clientWith('member-token').whoami.query()).toEqual({ id: 'member' });
    expect(await clientWith('member-token').touch.mutate()).toBeNull();
    expect(await refusal(clientWith('wrong').whoami.query())).toMatchObject({ httpStatus: 401 });
    expect(await refusal(clientWith().whoami.query())).toMatchObject({ httpStatus: 401 });
  });

  it('ignores null in place of an optional member', async () => {
    const input = { id: 'x', name: 'n', data: null as unknown as object, note: null };
    const client = clientWith('member-token');
    expect(await client.things.update.mutate(input as never)).toEqual({ id: 'x', name: 'n', note: null });
  });

  it('resumes a subscription after lastEventId', async () => {
    const ids: string[] = [];
    await new Promise<void>((resolve, reject) => {
      clientWith('member-token').ticks.subscribe(
        { lastEventId: '6' },
        { onData: ({ id }) => ids.push(id), onComplete: resolve, onError: reject },
      );
    });
    expect(ids).toEqual(['7', '8', '9']);
  });

  /** The answer of `whoami` over a socket whose upgrade had these headers. */
  const whoamiOver = async (headers: Record<string, string>) => {
    const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc`, { headers });
    closers.push(() => socket.close());
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'whoami' } }));
    const [message] = (await once(socket, 'message')) as [Buffer];
    const { result, error } = JSON.parse(message.toString());
    return result?.data.id ?? error.data.httpStatus;
  };

  const COOKIE = { Cookie: 'token=member-token' };

  it('falls back to the headers of the upgrade', async () => {
    expect(await whoamiOver(MEMBER)).toBe('member');
    expect(await whoamiOver({ 'x-api-key': 'admin-token' })).toBe('admin');
  });

  it('accepts a cookie only from our own origin', async () => {
    expect(await whoamiOver({ ...COOKIE, Origin: toy.url })).toBe('member');
    expect(await whoamiOver({ ...COOKIE, 'Sec-Fetch-Site': 'same-origin' })).toBe('member');
    expect(await whoamiOver({ ...COOKIE, Origin: 'http://evil.example' })).toBe(401);
    expect(await whoamiOver(COOKIE)).toBe(401);
  });

  it('sets our headers on the upgrade', async () => {
    const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc/`);
    closers.push(() => socket.close());
    const [response] = (await once(socket, 'upgrade')) as [{ headers: Record<string, string> }];
    expect(response.headers['x-request-id']).toBeTruthy();
    expect(response.headers['x-process-time']).toMatch(/^\d\.\d{6}$/);
  });

  it('closes on a message over the limit, and goes on', async () => {
    const before = toy.logged.length;
    const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc`);
    await once(socket, 'open');
    socket.send('x'.repeat(4 * 1024 * 1024 + 1));
    const [code] = await once(socket, 'close');
    expect(code).toBe(1009);
    expect(await whoamiOver(MEMBER)).toBe('member');
    expect(toy.logged.slice(before)).toEqual([]);
  });

  it('accepts long frames only from sockets with credentials', async () => {
    const url = `${toy.url.replace('http', 'ws')}/trpc`;
    const params = JSON.stringify({ method: 'connectionParams', data: { token: 'member-token' } });
    const path = 'things.update';
    const input = { id: 'x', name: 'n', data: { long: 'x'.repeat(100_000) } };
    const call = JSON.stringify({ id: 1, method: 'mutation', params: { path, input } });
    const answerTo = async (query: string, headers: Record<string, string>, frames: string[]) => {
      const socket = new WebSocket(url + query, { headers });
      closers.push(() => socket.close());
      await once(socket, 'open');
      for (const frame of frames) socket.send(frame);
      const closed = once(socket, 'close').then(([code]) => code);
      const answered = once(socket, 'message').then(([sent]) => JSON.parse(String(sent)));
      return Promise.race([closed, answered]);
    };
    expect(await answerTo('', {}, [call])).toBe(1009);
    expect(await answerTo('?connectionParams=1', {}, [params.replace('member', 'wrong'), call])).toBe(1009);
    const answered = { id: 1, result: { data: { id: 'x' } } };
    expect(await answerTo('', MEMBER, [call])).toMatchObject(answered);
    expect(await answerTo('?connectionParams=1', {}, [params, call])).toMatchObject(answered);
  });

  it('cuts a client that does not read, and does not buffer everything for it', async () => {
    const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc`, { headers: MEMBER });
    await once(socket, 'open');
    const before = flood.begun;
    socket.pause();
    socket.send(JSON.stringify({ id: 1, method: 'subscription', params: { path: 'flood' } }));
    await until('the flood, and its end', () => flood.begun > before && !flood.running);
    socket.terminate();
  });

  it('answers 404 to an upgrade at another address', async () => {
    const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/elsewhere`);
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(404);
    // `ws` emits an error for a refused upgrade when it is terminated.
    socket.on('error', () => {});
    socket.terminate();
  });

  it('closes its sockets when the server stops', async () => {
    const other = await startToy();
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/trpc`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await other.close();
    expect((await closed)[0]).toBe(1001);
  });
});
