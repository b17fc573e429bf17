import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, expectTypeOf, test, vi } from 'vitest';
import { type Channel, createClient, isParleyError, type ParleyError } from '../../client/src/index.ts';
import { signUp, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const ada = await signUp(server, 'Ada');

/** The error of a call; fails when the error is not one of this client, or the call succeeds. */
async function failureOf(call: Promise<unknown>): Promise<ParleyError> {
  const error = await call.then(
    () => new Error('The call succeeded.'),
    (cause: unknown) => cause,
  );
  if (!isParleyError(error)) throw error;
  return error;
}

test('signs in and uses the token from then on', async () => {
  const client = createClient({ url: server.url });
  const refused = await failureOf(client.api.channels.list.query());
  expect(refused).toMatchObject({ status: 401, code: 'unauthenticated' });

  const me = await client.api.auths.signIn.mutate({ email: ada.email, password: 'correct horse battery' });
  client.setToken(me.token);
  const channel = await client.api.channels.create.mutate({ name: 'general' });
  expectTypeOf(channel).toEqualTypeOf<Channel>();
  expect(await client.api.channels.get.query({ id: channel.id })).toEqual(channel);
  await client.close();
});

test('sends calls of one moment in shared requests of at most 20', async () => {
  const requests: string[] = [];
  const client = createClient({
    url: `${server.url}/`,
    token: ada.token,
    fetch: (input, init) => {
      requests.push(String(input));
      return fetch(input, init);
    },
  });
  const channel = await client.api.channels.create.mutate({ name: 'batches' });
  requests.length = 0;
  const calls = Array.from({ length: 45 }, () => client.api.channels.get.query({ id: channel.id }));
  expect((await Promise.all(calls)).map(({ id }) => id)).toEqual(calls.map(() => channel.id));
  expect(requests).toHaveLength(3);
  for (const url of requests) expect(url.length).toBeLessThan(8192);
  await client.close();
});

test('gives errors with status, code, detail and issues', async () => {
  const client = createClient({ url: server.url, token: ada.token });
  const { api } = client;
  const missing = await failureOf(api.channels.get.query({ id: '01890000-0000-7000-8000-000000000000' }));
  expect(missing).toMatchObject({ status: 404, code: 'not_found', issues: [], requestId: null });
  expect(missing.detail).toBe(missing.message);

  const wrong = await failureOf(api.channels.create.mutate({ name: '' }));
  expect(wrong).toMatchObject({ status: 400, code: 'validation', issues: [{ path: 'name' }] });
  await client.close();
});

test('asks a token function for every request, which may fail', async () => {
  const token = vi.fn<() => Promise<string>>();
  const client = createClient({ url: server.url, token });
  token.mockRejectedValueOnce(new Error('the vault is sealed'));
  const failure = await failureOf(client.api.auths.whoAmI.query());
  expect(failure).toMatchObject({ status: 0, code: 'token_unavailable' });
  expect(failure.detail).toContain('the vault is sealed');

  token.mockResolvedValueOnce('expired').mockResolvedValue(ada.token);
  expect(await failureOf(client.api.auths.whoAmI.query())).toMatchObject({ status: 401 });
  expect((await client.api.auths.whoAmI.query()).id).toBe(ada.id);
  await client.close();
});

test('tells missing answers and pages of proxies from refusals', async () => {
  const page = createServer((_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
  });
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  const client = createClient({ url });
  expect(await failureOf(client.api.auths.whoAmI.query())).toMatchObject({
    status: 0,
    code: 'unreachable',
  });
  page.closeAllConnections();
  await new Promise((resolve) => page.close(resolve));
  expect(await failureOf(client.api.auths.whoAmI.query())).toMatchObject({ status: 0, code: 'unreachable' });
  await client.close();
  expect(() => createClient({ url: 'nowhere' })).toThrow(TypeError);
});

test('ends a call with its own signal, and with the client', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const client = createClient({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  const abort = new AbortController();
  const aborted = failureOf(client.api.auths.whoAmI.query(undefined, { signal: abort.signal }));
  await new Promise<void>((resolve) => silent.once('request', () => resolve()));
  abort.abort();
  expect(await aborted).toMatchObject({ status: 0, code: 'aborted' });

  const request = new Promise<void>((resolve) =>
    silent.once('request', (message) => message.once('close', resolve)),
  );
  const cut = failureOf(client.api.auths.whoAmI.query());
  await new Promise<void>((resolve) => silent.once('request', () => resolve()));
  await client.close();
  expect(await cut).toMatchObject({ code: 'closed' });
  await request;
  expect(await failureOf(client.api.auths.whoAmI.query())).toMatchObject({ code: 'closed' });
  await new Promise((resolve) => silent.close(resolve));
});
