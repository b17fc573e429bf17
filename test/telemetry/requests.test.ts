import { Writable } from 'node:stream';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { AppRouter } from '../../src/router.ts';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { makeKey, postJson } from '../openai/wire.ts';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { openWorkshop } from '../tools/workshop.ts';

type Line = Record<string, unknown> & { msg: string };
const lines: Line[] = [];
const log = new Writable({
  write(chunk, _encoding, done) {
    lines.push(JSON.parse(String(chunk)));
    done();
  },
});

const egress = egressToHere();
const shop = await openWorkshop({}, { log: log as never, egress });
const { server, admin, reader } = shop;
const provider = await startProvider('small');
await connectProvider(server, admin, provider, { name: 'scripted' });
await shop.configure((config) => {
  config.models.open_provider_models = true;
  config.auth.enable_api_keys = true;
  config.user.permissions.features.api_keys = true;
});
await shop.create(
  'echo',
  toolOf(`
    def headers(self, __request__=None) -> str:
        known = __request__.headers
        return " ".join([known["X-Request-Id"], known.get("x-request-id"), str("X-REQUEST-ID" in known), str(len(known))])

    def metadata(self, __metadata__=None) -> str:
        return str(__metadata__["request_id"])

    def fails(self) -> str:
        raise ValueError("no")
  `),
);
afterAll(async () => {
  await shop.close();
  await egress.close();
  await provider.close();
});

const linesOf = (id: string, msg: string) =>
  lines.filter((line) => line.request_id === id && line.msg === msg);
const TOOL = 'A function of a tool was called.';
const JOB = 'A job is done.';

const call = (request: string, id: string, body: unknown, token = reader.token) =>
  server.call(request, { token, body, headers: { 'x-request-id': id } });

describe('the id of a request', () => {
  it('is in the log line of a tool, and the tool reads it', async () => {
    const { body } = await call('POST /tools/id/echo/call', 'mine-1', { function: 'headers', arguments: {} });
    expect(body.result).toBe('mine-1 mine-1 True 1');
    expect(linesOf('mine-1', TOOL)).toMatchObject([{ tool: 'echo', function: 'headers', outcome: 'ok' }]);
  });

  it('is the own id of each call of one process of a tool', async () => {
    const ids = Array.from({ length: 8 }, (_, number) => `beside-${number}`);
    await Promise.all(
      ids.map((id) => call('POST /tools/id/echo/call', id, { function: 'fails', arguments: {} })),
    );
    for (const id of ids) expect(linesOf(id, TOOL)).toMatchObject([{ outcome: 'tool_raised' }]);
  });

  it('is in the line of a run over a subscription', async () => {
    const sockets = createWSClient({
      url: `${server.url.replace('http', 'ws')}/trpc`,
      WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
      connectionParams: { token: reader.token },
    });
    const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: sockets })] });
    const result = await new Promise((resolve, reject) => {
      const input = { id: 'echo', function: 'headers', arguments: {} };
      client.tools.run.subscribe(input, {
        onData: ({ data }) => data.type === 'result' && resolve(data.result),
        onError: reject,
      });
    });
    await sockets.close();
    const [id = ''] = String(result).split(' ');
    expect(linesOf(id, TOOL)).toHaveLength(1);
  });

  it('reaches the provider and the tools of a model at the door of OpenAI', async () => {
    let round = 0;
    provider.script((_request, wire) => {
      round += 1;
      if (round === 1) wire.call({ name: 'metadata', arguments: {} });
      else wire.say('Done.');
    });
    const key = await makeKey(server, admin);
    const body = { model: 'small', messages: [{ role: 'user', content: 'Go' }], tool_ids: ['echo'] };
    const answer = await postJson(`${server.url}/v1/chat/completions`, key, body, {
      'x-request-id': 'mine-2',
    });
    expect(answer.status).toBe(200);
    const chats = provider.chats().slice(-2);
    for (const { headers } of chats) {
      expect(headers).toMatchObject({ 'x-request-id': 'mine-2', 'x-client-request-id': 'mine-2' });
      expect(headers.traceparent).toBeUndefined();
    }
    expect(chats[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'mine-2' });
    expect(linesOf('mine-2', TOOL)).toHaveLength(1);
    expect(linesOf('mine-2', 'A provider of models answers.')).toHaveLength(2);
  });

  it('stands beside the own id of a provider that fails', async () => {
    provider.script((_request, wire) =>
      wire.json(500, { error: { message: 'Down.' } }, { 'x-request-id': 'theirs-1' }),
    );
    const key = await makeKey(server, admin, '/api/chat/completions');
    const body = { model: 'small', messages: [{ role: 'user', content: 'Go' }] };
    await postJson(`${server.url}/v1/chat/completions`, key, body, { 'x-request-id': 'mine-3' });
    const FAILED = 'A call of a provider failed.';
    const told = { connection: 'scripted', code: 'provider_failed' };
    expect(linesOf('mine-3', FAILED)).toMatchObject([{ ...told, provider_request_id: 'theirs-1' }]);
    provider.script((_request, wire) => {
      wire.delta({ content: 'Hel' });
      setImmediate(() => wire.cut());
    });
    await postJson(
      `${server.url}/v1/chat/completions`,
      key,
      { ...body, stream: true },
      { 'x-request-id': 'mine-4' },
    ).then((answer) => answer.text());
    await until('the line', () => linesOf('mine-4', FAILED).length > 0);
  });

  it('passes from a post to the job of a reply, its provider and the notices of the reply', async () => {
    provider.script((_request, wire) => wire.say('Hello.'));
    const { body: channel } = await call('POST /channels/create', 'made', { name: 'ids' }, admin.token);
    const at = `/channels/${channel.id}/messages`;
    const { status } = await call(`POST ${at}/post`, 'mine-5', { content: '@small hi' }, admin.token);
    expect(status).toBe(200);
    await until('the line of the job', () => linesOf('mine-5', JOB).length > 0);
    expect(linesOf('mine-5', JOB)).toMatchObject([{ kind: 'replies.answer', attempt: 1 }]);
    expect(provider.chats().at(-1)?.headers['x-request-id']).toBe('mine-5');
  });

  it('passes from a sign-up to the delivery of its notice, also when the target fails', async () => {
    const target = await startTarget((_request, response) => response.writeHead(500).end());
    await shop.configure((config) => {
      config.webhook_url = target.url;
      config.ui.enable_signup = true;
    });
    const account = { name: 'Late', email: 'late@example.com', password: 'a password of Late 4711' };
    await server.call('POST /auths/signup', { body: account, headers: { 'x-request-id': 'mine-6' } });
    await until('the line of the job', () =>
      linesOf('mine-6', 'A job has ended without success.').some(({ kind }) => kind === 'webhooks.deliver'),
    );
    // The statement of docs/operations.md.
    const waiting = await withClient(server.database.url, (client) =>
      client.query(
        `select j.task_identifier, j.attempts, j.last_error from graphile_worker.jobs j join graphile_worker._private_jobs p using (id)
          where p.payload -> 'cause' ->> 'request_id' = 'mine-6'`,
      ),
    );
    expect(waiting.rows).toMatchObject([{ task_identifier: 'webhooks.deliver' }]);
    await target.close();
  });
});
