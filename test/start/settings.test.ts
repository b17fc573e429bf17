import { networkInterfaces } from 'node:os';
import { afterEach, expect, it } from 'vitest';
import { readEnv } from '../../src/env.ts';
import { signUp, startServer, type TestServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

let server: TestServer;
afterEach(() => server.close());

it('ENABLE_WEBSOCKET_SUPPORT=off closes only the event doors', async () => {
  for (const off of ['false', '0', 'no', 'off'])
    expect(readEnv({ ENABLE_WEBSOCKET_SUPPORT: off }).ENABLE_WEBSOCKET_SUPPORT).toBe(false);
  server = await startServer({ env: { ENABLE_WEBSOCKET_SUPPORT: 'off' } });
  const { token } = await signUp(server, 'Ada');
  const socket = await listenBySocketIo(server.url, token);
  expect(socket.ended).toBe('websocket error');
  expect((await fetch(`${server.url}/ws/socket.io/?EIO=4&transport=polling`)).status).toBe(404);
  expect((await server.call('GET /channels', { token })).status).toBe(200);
});

it.each([
  ['prod', 404],
  ['test', 404],
  ['dev', 200],
])('ENV=%s answers /docs and /openapi.json with %i', async (ENV, expected) => {
  server = await startServer({ env: { ENV } });
  for (const path of ['/docs', '/openapi.json'])
    expect((await fetch(server.url + path)).status).toBe(expected);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

it.skipIf(!hasIpv6)('listens on an IPv6 address and prints it', async () => {
  server = await startServer({ env: { HOST: '::1' } });
  expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

it('treats an empty variable like a missing one', async () => {
  server = await startServer({ env: { REDIS_URL: '', SECRET_KEY: '', CORS_ALLOW_ORIGIN: '' } });
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});
