import { once } from 'node:events';
import { get } from 'node:http';
import { createTRPCClient, createWSClient, type TRPCClientError, wsLink } from '@trpc/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { type AppRouter, appRouter } from '../../src/router.ts';
import { administer } from '../configs/support.ts';
import { makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

let channelId: string;
let free: string;

const restrict = (endpoint_restrictions: boolean, allowed_endpoints = '') =>
  config.configure(({ auth }: Configuration) => {
    auth.enable_api_keys = true;
    auth.api_key = { endpoint_restrictions, allowed_endpoints };
  });

const server = await startServer();
afterAll(() => server.close());
const root = await signUp(server, 'Root');
const config = administer(server, root);

beforeAll(async () => {
  channelId = await makeChannel(server, root);
});
beforeEach(async () => {
  await restrict(false);
  free ??= await keyFor();
});

let made = 0;
async function keyFor(...allowed_endpoints: string[]): Promise<string> {
  const { body } = await server.call('POST /auths/api_keys', {
    token: root.token,
    body: { name: `key ${++made}`, ...(allowed_endpoints.length > 0 && { allowed_endpoints }) },
  });
  return body.api_key;
}

const request = async (path: string, init: RequestInit): Promise<string | undefined> => {
  const response = await fetch(server.url + path, init);
  const body = (await response.json()) as { code?: string; error?: { data: { error_code: string } } };
  return response.ok ? 'in' : (body.code ?? body.error?.data.error_code);
};

async function overSocket(
  key: string,
  call: (client: ReturnType<typeof createTRPCClient<AppRouter>>) => Promise<unknown>,
) {
  const sockets = createWSClient({
    url: `${server.url.replace('http', 'ws')}/trpc`,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    connectionParams: { token: key },
  });
  try {
    await call(createTRPCClient<AppRouter>({ links: [wsLink({ client: sockets })] }));
    return 'in';
  } catch (error) {
    return (error as TRPCClientError<AppRouter>).data?.error_code;
  } finally {
    await sockets.close();
  }
}

/** The outcome of listing the channels with this key, for each way to send it. */
const WAYS: Record<string, (key: string) => Promise<string | undefined>> = {
  'Authorization at REST': (key) =>
    request('/api/v1/channels', { headers: { authorization: `Bearer ${key}` } }),
  'the older prefix': (key) => request('/api/channels/', { headers: { authorization: `bearer ${key}` } }),
  'x-api-key at REST': (key) => request('/api/v1/channels', { headers: { 'x-api-key': key } }),
  'the cookie at REST': (key) => request('/api/v1/channels', { headers: { cookie: `token=${key}` } }),
  'tRPC over HTTP': (key) => request('/trpc/channels.list', { headers: { 'x-api-key': key } }),
  'tRPC over WebSocket': (key) => overSocket(key, (client) => client.channels.list.query()),
};
/** The outcome of subscribing to events with this key, for each door. */
const DOORS = { 'Socket.IO': listenBySocketIo, 'a tRPC subscription': listenByTrpc };
const byDoor = async (door: keyof typeof DOORS, key: string) => {
  const listener = await DOORS[door](server.url, key);
  const outcome = listener.ended ?? 'in';
  listener.close();
  return outcome;
};

describe('an endpoint restriction', () => {
  describe.each(Object.entries(WAYS))('by %s', (_way, enter) => {
    it('applies to a key with endpoints of its own', async () => {
      expect(await enter(await keyFor('/api/v1/channels'))).toBe('in');
      expect(await enter(await keyFor('/api/v1/tools'))).toBe('endpoint_forbidden');
    });

    it('applies to all keys by auth.api_key.endpoint_restrictions', async () => {
      await restrict(true, '/api/v1/tools, /api/v1/channels');
      expect(await enter(free)).toBe('in');
      await restrict(true, '/api/v1/tools');
      expect(await enter(free)).toBe('endpoint_forbidden');
      await restrict(true);
      expect(await enter(free)).toBe('endpoint_forbidden');
      expect(await enter(root.token)).toBe('in');
    });
  });

  describe.each(Object.keys(DOORS) as (keyof typeof DOORS)[])('at %s', (door) => {
    it.each([
      [['/ws'], 'in'],
      [['/ws/socket.io'], 'in'],
      [['/api/v1/channels'], 'in'],
      [['/api/channels/events'], 'in'],
      [['/api/v1/channels/events/cursor'], 'endpoint_forbidden'],
      [['/api/v1/tools', '/ws/other'], 'endpoint_forbidden'],
    ])('decides about a key of %s: %s', async (endpoints, outcome) => {
      expect(await byDoor(door, await keyFor(...endpoints))).toBe(outcome);
    });

    it('closes open sockets when the configuration changes', async () => {
      const listener = await DOORS[door](server.url, free);
      expect(listener.ended).toBeUndefined();
      await restrict(true, '/api/v1/tools');
      await until('the socket to end', () => listener.ended);
      listener.close();
      expect(await byDoor(door, free)).toBe('endpoint_forbidden');
      expect(await byDoor(door, root.token)).toBe('in');
    });
  });

  it('answers each call of a tRPC socket, which stays open', async () => {
    const headers = { authorization: `Bearer ${await keyFor('/api/v1/tools')}` };
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/trpc`, { headers });
    const codes: string[] = [];
    let closed: string | undefined;
    socket.on('message', (data) => codes.push(JSON.parse(String(data)).error?.data.error_code));
    socket.on('close', (_code, reason) => {
      closed = String(reason);
    });
    await once(socket, 'open');
    for (let id = 1; id <= 500; id += 1)
      socket.send(JSON.stringify({ id, method: 'query', params: { path: 'channels.list' } }));
    await until('all answers', () => closed ?? codes.length === 500);
    expect(closed).toBeUndefined();
    expect(codes).toEqual(Array(500).fill('endpoint_forbidden'));
    socket.terminate();
  });

  it('combines the list of the key and the list of the configuration', async () => {
    const key = await keyFor('/api/v1/channels');
    await restrict(true, '/api/v1/tools');
    expect(await WAYS['x-api-key at REST']?.(key)).toBe('endpoint_forbidden');
    expect(await request('/api/v1/tools', { headers: { 'x-api-key': key } })).toBe('endpoint_forbidden');
  });

  it('matches whole segments of auth.api_key.allowed_endpoints, without wildcards', async () => {
    const allowed = async (entry: string) => {
      await restrict(true, entry);
      return request('/api/v1/channels', { headers: { 'x-api-key': free } });
    };
    for (const entry of [
      '/api/v1/channels',
      '/api/channels',
      ' /api/v1/channels/ ',
      '/api/v1',
      '/api',
      '/',
    ]) {
      expect([entry, await allowed(entry)]).toEqual([entry, 'in']);
    }
    for (const entry of [
      '/api/v1/chan',
      '/api/v1/channels/x',
      '/channels',
      '/v1/channels',
      '/api/v1/channels*',
      '/trpc',
      ',',
    ]) {
      expect([entry, await allowed(entry)]).toEqual([entry, 'endpoint_forbidden']);
    }
  });

  it('applies to the normalized path, however it is written', async () => {
    const key = await keyFor('/api/v1/channels');
    const raw = (path: string) =>
      new Promise<number>((resolve, reject) => {
        const { hostname, port } = new URL(server.url);
        get({ hostname, port, path, headers: { authorization: `Bearer ${key}` } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        }).on('error', reject);
      });
    expect(await raw('/api/v1/%63hannels')).toBe(200);
    for (const path of [
      '/api/v1/channels/../users',
      '/api/v1/channels/%2e%2e/users',
      '/api/v1/channels/..%2fusers',
      '/api/v1/users?/api/v1/channels',
      '/api/v1/%75sers',
      '/api/v1//users',
      '/api/v1/users/#/api/v1/channels',
    ]) {
      expect([path, [400, 403, 404].includes(await raw(path))]).toEqual([path, true]);
    }
  });

  it('can name one resource, in either spelling of its id, at both kinds of door', async () => {
    const key = await keyFor(`/api/v1/channels/${channelId.toUpperCase()}`);
    const headers = { authorization: `Bearer ${key}` };
    const other = crypto.randomUUID();
    const trpc = (id: string) => `/trpc/messages.list?input=${encodeURIComponent(JSON.stringify({ id }))}`;
    for (const id of [channelId, channelId.toUpperCase()]) {
      expect(await request(`/api/v1/channels/${id}/messages`, { headers })).toBe('in');
      expect(await request(trpc(id), { headers })).toBe('in');
    }
    for (const path of [
      `/api/v1/channels/${other}/messages`,
      trpc(other),
      trpc(`${channelId}/x`),
      '/api/v1/channels',
    ]) {
      expect([path, await request(path, { headers })]).toEqual([path, 'endpoint_forbidden']);
    }
    expect(await byDoor('Socket.IO', key)).toBe('endpoint_forbidden');
  });

  it('checks every call of a batch', async () => {
    const key = await keyFor('/api/v1/channels');
    const response = await fetch(
      `${server.url}/trpc/channels.list,users.list?batch=1&input={"0":{},"1":{}}`,
      {
        headers: { authorization: `Bearer ${key}` },
      },
    );
    const [channels, users] = (await response.json()) as { error?: { data: { error_code: string } } }[];
    expect([channels?.error, users?.error?.data.error_code]).toEqual([undefined, 'endpoint_forbidden']);
  });

  it('applies to uploads and downloads', async () => {
    const key = await keyFor('/api/v1/channels');
    const headers = { authorization: `Bearer ${key}` };
    const form = new FormData();
    form.set('file', new Blob(['text']), 'a.txt');
    expect(await request('/api/v1/files', { method: 'POST', headers, body: form })).toBe(
      'endpoint_forbidden',
    );
    const file = `/api/v1/files/${crypto.randomUUID()}/content`;
    expect(await request(file, { headers })).toBe('endpoint_forbidden');
    expect(await request(file, { headers: { authorization: `Bearer ${free}` } })).toBe('not_found');
  });

  it('prefers environment variables to the stored configuration', async () => {
    const pinned = await startServer({
      env: {
        ENABLE_API_KEYS: 'true',
        ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: 'true',
        API_KEYS_ALLOWED_ENDPOINTS: '/api/v1/tools',
      },
    });
    const { token } = await signUp(pinned, 'Root');
    const { body } = await pinned.call('POST /auths/api_keys', { token, body: { name: 'key' } });
    const statusOf = async (path: string) =>
      (await pinned.call(`GET ${path}`, { token: body.api_key })).status;
    expect([await statusOf('/tools'), await statusOf('/channels')]).toEqual([200, 403]);
    await pinned.close();
  });

  it('knows the path of every procedure', () => {
    const unknown = listProcedures(appRouter).filter(({ meta }) => !meta?.openapi && !meta?.reaches?.length);
    expect(unknown.map(({ path }) => path)).toEqual([]);
  });
});
