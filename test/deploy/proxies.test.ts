import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { administer } from '../configs/support.ts';
import { HELLO, makeKey, postJson } from '../openai/wire.ts';
import { makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { call, PASSWORD, PROXY, signUp, startServer } from '../support/server.ts';
import { listenByTrpc } from '../support/sockets.ts';
import { type RunningProxy, startCaddy, startNginx, withoutCaddy, withoutNginx } from './proxies.ts';

/** The examples of `deploy/proxies` before a real server, over https. */

const server = await startServer({ env: PROXY.env });
const provider = await startProvider('small');
const root = await signUp(server, 'Root');
await administer(server, root).configure(({ auth }) => {
  auth.enable_api_keys = true;
});
await connectProvider(server, root, provider, { name: 'scripted' });
const key = await makeKey(server, root);
const channel = await makeChannel(server, root);

// The certificates of the proxies are their own.
beforeAll(() => void vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'));
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
  await provider.close();
});

describe.each([
  ['nginx', withoutNginx, startNginx],
  ['Caddy', withoutCaddy, startCaddy],
] as const)('%s', (_name, isMissing, start) => {
  describe.skipIf(isMissing)('with the example (needs the program)', () => {
    let proxy: RunningProxy;
    beforeAll(async () => {
      proxy = await start(new URL(server.url), PROXY.env.PROXY_SECRET);
    });
    afterAll(() => proxy.close());

    it('serves the page, and tells that the caller came by https', async () => {
      expect(await (await fetch(proxy.url)).text()).toContain('/assets/');
      const body = { email: root.email, password: PASSWORD };
      const { headers } = await call(proxy.url, 'POST /auths/signin', { body });
      expect(headers.get('set-cookie')).toContain('Secure');
    });

    it('does not pass on an address that the caller claims', async () => {
      const headers = { 'x-forwarded-for': '203.0.113.7', 'x-proxy-secret': 'wrong' };
      const body = { email: root.email, password: PASSWORD };
      expect((await call(proxy.url, 'POST /auths/signin', { body, headers })).status).toBe(200);
      const { body: log } = await server.as(root)('GET /audit?action=auth');
      expect(JSON.stringify(log)).not.toContain('203.0.113.7');
    });

    it('carries events over both doors', async () => {
      const trpc = await listenByTrpc(proxy.url, root.token);
      expect(trpc.ended).toBeUndefined();
      const heard: Record<string, string[]> = { websocket: [], polling: [] };
      const sockets = Object.entries(heard).map(([transport, contents]) => {
        const options = { path: '/ws/socket.io', auth: { token: root.token }, rejectUnauthorized: false };
        const socket = io(proxy.url, { ...options, transports: [transport] });
        return socket.on('events:channel', ({ data }) => contents.push(data.data.content));
      });
      await until('the clients to connect', () => sockets.every(({ connected }) => connected));
      const content = `through ${proxy.url}`;
      await server.as(root)(`POST /channels/${channel}/messages/post`, { content });
      await until('the event by tRPC', () => trpc.events.some((event) => event.content === content));
      for (const [transport, contents] of Object.entries(heard))
        await until(`the event by ${transport}`, () => contents.includes(content));
      trpc.close();
      for (const socket of sockets) socket.disconnect();
    });

    it('passes on each part of a streamed answer at once', async () => {
      const firstRead = Promise.withResolvers<void>();
      provider.script(async (_request, wire) => {
        wire.delta({ content: 'first ' });
        await firstRead.promise;
        wire.delta({ content: 'last' });
        wire.finish();
      });
      const answer = await postJson(`${proxy.url}/v1/chat/completions`, key, { ...HELLO, stream: true });
      let text = '';
      for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += part;
        if (text.includes('first')) firstRead.resolve();
      }
      expect(text).toMatch(/first.*last.*\[DONE\]/s);
    });

    it('takes an upload that is larger than the usual limits of proxies', async () => {
      const form = new FormData();
      form.append('file', new Blob([Buffer.alloc(3 * 2 ** 20, 'a')]), 'large.txt');
      const answer = await fetch(`${proxy.url}/api/v1/files/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${root.token}` },
        body: form,
      });
      expect(answer.status).toBe(200);
    });
  });
});
