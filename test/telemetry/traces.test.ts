import { createTRPCClient, httpLink } from '@trpc/client';
import { afterAll, describe, expect, it } from 'vitest';
import type { AppRouter } from '../../src/router.ts';
import { makeKey, postJson } from '../openai/wire.ts';
import { type ExportedSpan, startCollector } from '../support/collector.ts';
import { until } from '../support/poll.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { listenBySocketIo, openCalls } from '../support/sockets.ts';
import { openWorkshop } from '../tools/workshop.ts';

const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];

const PROXY_SECRET = 'the-secret-of-the-proxy-of-this-test';
const collector = await startCollector();
const shop = await openWorkshop(
  {},
  {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '200',
      TRUSTED_PROXIES: '127.0.0.1',
      PROXY_SECRET,
    },
  },
);
const { server, admin } = shop;
const provider = await startProvider('small');
await connectProvider(server, admin, provider, { name: 'scripted', connection_type: 'local' });
await shop.configure((config) => {
  config.models.open_provider_models = true;
  config.auth.enable_api_keys = true;
});
await shop.create('echo', toolOf('    def hello(self, name: str) -> str:\n        return "Hello " + name'));
const key = await makeKey(server, admin);
const { body: channel } = await server.as(admin)('POST /channels/create', { name: 'traced' });
afterAll(async () => {
  await shop.close();
  await provider.close();
  await collector.close();
});

const childrenOf = ({ traceId, spanId }: ExportedSpan) =>
  collector.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
const of = (requestId: string) => (span: ExportedSpan) => span.attributes['parley.request_id'] === requestId;
const at = `/channels/${channel.id}/messages`;
const call = (request: string, body: unknown, headers: Record<string, string>, token = admin.token) =>
  server.call(request, { token, body, headers });
const route = (path: string) => (span: ExportedSpan) => span.attributes['http.route'] === path;

describe('a span of each call', () => {
  it('at the door of REST has the name of its operation, and its statements', async () => {
    await call(`POST ${at}/post`, { content: 'one' }, { 'x-request-id': 'rest-1' });
    const span = await collector.span('messages.post', of('rest-1'));
    expect(span).toMatchObject({ kind: SERVER, status: 0, links: [] });
    expect(span.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/api/v1/channels/:id/messages/post',
    });
    expect(span.resource).toMatchObject({ 'service.name': 'parley', 'service.version': '0.1.0' });
    const added = childrenOf(span).find(({ name }) => name === 'posts.add') as ExportedSpan;
    const statements = childrenOf(added);
    expect(statements.map(({ name, kind }) => ({ name, kind }))).toEqual([
      { name: expect.stringMatching(/^message/), kind: CLIENT },
    ]);
    for (const { attributes, name } of statements)
      expect(attributes).toEqual({ 'db.system.name': 'postgresql', 'db.query.summary': name });
  });

  it('at both doors of tRPC, and at those of Socket.IO, OpenAI and Messages', async () => {
    const headers = { authorization: `Bearer ${admin.token}` };
    const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: `${server.url}/trpc`, headers })] });
    await client.auths.whoAmI.query();
    await collector.span('auths.whoAmI', route('/trpc/:path'));
    const calls = openCalls(server.url, admin.token);
    await calls.call('query', 'auths.whoAmI', undefined);
    calls.close();
    const overSocket = await collector.span('auths.whoAmI', route('/trpc'));
    expect(overSocket.attributes['network.protocol.name']).toBe('websocket');
    const listener = await listenBySocketIo(server.url, admin.token);
    listener.close();
    const connected = await collector.span('connect');
    expect(connected.attributes['http.route']).toBe('/ws/socket.io/');
    const messages = [{ role: 'user', content: 'Hi' }];
    await postJson(`${server.url}/v1/chat/completions`, key, { model: 'small', messages });
    await postJson(`${server.url}/v1/messages`, key, { model: 'small', messages, max_tokens: 9 });
    await collector.span('POST /v1/chat/completions');
    await collector.span('POST /v1/messages');
  });

  it('notes the code of a failure, and is an error only for failures of the server', async () => {
    await call('GET /channels/00000000-0000-4000-8000-000000000000', undefined, { 'x-request-id': 'none-1' });
    const span = await collector.span('channels.get', of('none-1'));
    expect(span).toMatchObject({ status: 0, attributes: { 'error.type': 'not_found' } });
  });

  it('continues the trace of its caller; only a trusted proxy decides that it is not exported', async () => {
    const traceId = 'a'.repeat(32);
    const traceparent = `00-${traceId}-${'b'.repeat(16)}-00`;
    await call('GET /auths', undefined, { traceparent, 'x-request-id': 'traced-1' });
    expect(await collector.span('auths.whoAmI', of('traced-1'))).toMatchObject({
      traceId,
      parentSpanId: 'b'.repeat(16),
    });
    const fromProxy = { traceparent, 'x-proxy-secret': PROXY_SECRET, 'x-request-id': 'proxied-1' };
    await call('GET /auths', undefined, fromProxy);
    await call('GET /auths', undefined, { traceparent: 'malformed', 'x-request-id': 'traced-2' });
    expect((await collector.span('auths.whoAmI', of('traced-2'))).parentSpanId || undefined).toBeUndefined();
    // The earlier call would be here.
    expect(collector.spans.some(of('proxied-1'))).toBe(false);
  });
});

describe('the spans of a model', () => {
  it('show its rounds and tools; a local provider gets the context of the trace', async () => {
    let round = 0;
    provider.script((_request, wire) => {
      round += 1;
      if (round === 1) wire.call({ name: 'hello', arguments: { name: 'SECRET-ARGUMENT' } });
      else wire.say('SECRET-ANSWER');
    });
    const messages = [{ role: 'user', content: 'SECRET-QUESTION' }];
    const body = { model: 'small', messages, tool_ids: ['echo'] };
    await postJson(`${server.url}/v1/chat/completions`, key, body, { 'x-request-id': 'model-1' });
    const span = await collector.span('POST /v1/chat/completions', of('model-1'));
    const children = childrenOf(span);
    const chats = children.filter(({ name }) => name === 'chat small');
    expect(chats).toHaveLength(2);
    expect(chats[0]).toMatchObject({
      kind: CLIENT,
      attributes: {
        'gen_ai.request.model': 'small',
        'parley.connection': 'scripted',
        'server.address': '127.0.0.1',
      },
      events: [{ name: 'first token' }],
    });
    const sent = provider
      .chats()
      .slice(-2)
      .map(({ headers }) => headers.traceparent);
    expect(sent).toEqual(chats.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
    expect(children.find(({ name }) => name === 'tool')?.attributes).toEqual({
      'parley.tool.id': 'echo',
      'gen_ai.tool.name': 'hello',
    });
  });

  it('of a reply belong to its job, which is linked to the post', async () => {
    provider.script((_request, wire) => wire.say('SECRET-REPLY'));
    await call(`POST ${at}/post`, { content: '@small SECRET-POST' }, { 'x-request-id': 'post-1' });
    const post = await collector.span('messages.post', of('post-1'));
    const job = await collector.span('replies.answer', of('post-1'));
    expect(job).toMatchObject({ kind: CONSUMER, links: [{ traceId: post.traceId }] });
    expect(job.traceId).not.toBe(post.traceId);
    expect(childrenOf(job).map(({ name }) => name)).toContain('chat small');
  });
});

it('metrics are those of /metrics', async () => {
  await until('metrics', () => collector.metrics.has('parley_http_request_duration_seconds'));
  const scraped = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${admin.token}` },
  });
  const names = [...(await scraped.text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  expect(new Set(collector.metrics.keys())).toEqual(new Set(names));
  const posts = () =>
    collector.metrics
      .get('parley_http_request_duration_seconds')
      ?.points.find(({ attributes }) => attributes.route === '/api/v1/channels/:id/messages/post');
  await until('the posts', () => Number(posts()?.count) >= 2);
  const point = posts();
  const counts = point?.bucketCounts as string[];
  expect(point?.explicitBounds).toEqual([0.005, 0.025, 0.1, 0.25, 1, 2.5, 10]);
  expect(counts.map(Number).reduce((sum, count) => sum + count)).toBe(Number(point?.count));
  expect(collector.metrics.get('parley_jobs_total')?.kind).toBe('sum');
  expect(collector.metrics.get('parley_sockets')?.kind).toBe('gauge');
});

it('no span and no metric has contents, credentials or addresses of people', async () => {
  await call('POST /auths/signin', { email: admin.email, password: 'SECRET-PASSWORD' }, {});
  await collector.span('auths.signIn');
  const text = collector.text();
  for (const secret of [admin.token, key, admin.email, 'SECRET-', 'key-0', 'Bearer'])
    expect(text).not.toContain(secret);
});
