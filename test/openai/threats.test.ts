import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { createLargeBodies } from '../../src/doors/http/bodies.large.ts';
import { until } from '../support/poll.ts';
import { signUp, signUpAs } from '../support/server.ts';
import { limitTo } from '../usage/usage.ts';
import { dataOf, HELLO, makeKey, openStage, postJson } from './wire.ts';

/** What callers may not do at the doors of models, and how they are told. */

const stage = await openStage('small', 'secret');
const { server, root, ann, key, post } = stage;
afterAll(() => stage.close());

const ROUTES: [path: string, body: object][] = [
  ['/chat/completions', HELLO],
  ['/embeddings', { model: 'small', input: 'x' }],
  ['/messages', { ...HELLO, max_tokens: 5 }],
  ['/messages/count_tokens', HELLO],
  ['/message', { ...HELLO, max_tokens: 5 }],
];
// biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
type Answer = any;

/** The code of a failure in each of the three shapes; undefined for an answer. */
async function codeOf(response: Response): Promise<[number, string | undefined]> {
  const body = (await response.json()) as Answer;
  return [response.status, body.error?.code ?? body.code];
}

/** The shape of a failure, by its members. */
const shapeOf = (body: Answer) => (body.type === 'error' ? 'anthropic' : body.error ? 'openai' : 'own');

/** Sends only the head of a request with this length of the body. */
function sendHead(path: string, bytes: number, headers: Record<string, string> = {}) {
  const sent = httpRequest(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': bytes, ...headers },
  });
  sent.on('error', () => {});
  sent.flushHeaders();
  return sent;
}

async function answerOf(sent: ReturnType<typeof sendHead>): Promise<[number | undefined, Answer]> {
  const [response] = await once(sent, 'response');
  const body = await readJson(response);
  sent.destroy();
  return [response.statusCode, body];
}

describe.each(ROUTES)('%s', (path, body) => {
  it('refuses callers without credentials before their body, in the shape of its clients', async () => {
    for (const prefix of ['/v1', '/api/v1', '/api']) {
      const [status, answer] = await answerOf(sendHead(prefix + path, 1_000_000));
      const own = prefix === '/v1' ? 'openai' : 'own';
      expect([status, shapeOf(answer)]).toEqual([401, path.startsWith('/message') ? 'anthropic' : own]);
    }
  });

  it('refuses accounts that wait for approval, and a cookie without an origin', async () => {
    pending ??= (await signUp(server, 'Pending')).token;
    expect(await codeOf(await postJson(`${server.url}/v1${path}`, pending, body))).toEqual([
      401,
      'account_pending',
    ]);
    const headers = { 'content-type': 'application/json', cookie: `token=${root.token}` };
    const response = await fetch(`${server.url}/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(await codeOf(response)).toEqual([403, 'origin_forbidden']);
  });

  it('answers the same for a model that the caller may not use and one that does not exist', async () => {
    const ask = async (model: string) => {
      const response = await postJson(`${server.url}/v1${path}`, ann.token, { ...body, model });
      const { request_id: _, ...answer } = (await response.json()) as Answer;
      return [response.status, answer];
    };
    const [foreign, unknown] = [await ask('secret'), await ask('none')];
    expect(foreign).toEqual(unknown);
    expect(foreign[0]).toBe(404);
  });

  it.each([
    ['malformed JSON', '{"model": ', 'malformed_json'],
    ['no body', '', 'malformed_json'],
    ['a list', '[]', 'validation'],
    ['no model', JSON.stringify({ ...body, model: undefined }), 'validation'],
    ['a model that cannot be stored', JSON.stringify({ ...body, model: 'x\u0000' }), 'validation'],
    ['a model that is no text', JSON.stringify({ ...body, model: 5 }), 'validation'],
    ['nothing to answer', JSON.stringify({ ...body, messages: [], input: [] }), 'validation'],
    ['deep JSON', `{"model":"small","x":${'['.repeat(200)}${']'.repeat(200)}}`, 'bad_request'],
    ['a name of prototypes', `{"model":"small","__proto__":{"a":1}}`, 'bad_request'],
  ])('refuses %s with 400', async (_what, text, code) => {
    expect(await codeOf(await post(`/v1${path}`, text))).toEqual([400, code]);
  });

  it('refuses other types and too large bodies', async () => {
    expect(await codeOf(await post(`/v1${path}`, 'x', { 'content-type': 'text/plain' }))).toEqual([
      415,
      'media_type',
    ]);
    const [status] = await answerOf(
      sendHead(`/v1${path}`, 33 * 1024 ** 2, { authorization: `Bearer ${key}` }),
    );
    expect(status).toBe(413);
  });
});
let pending: string | undefined;

describe('wrong members', () => {
  it.each([
    [{ messages: 'Hello' }, 'messages'],
    [{ messages: [{ content: 'Hello' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    [{ stream: 'yes' }, 'stream'],
    [{ tools: 'all' }, 'tools'],
    [{ tool_ids: [5] }, 'tool_ids.0'],
  ])('%j are named', async (members, param) => {
    const response = await post('/v1/chat/completions', { ...HELLO, ...members });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error', param, code: 'validation' } },
    ]);
  });

  it('of a stream have a status', async () => {
    expect((await post('/v1/chat/completions', { ...HELLO, messages: [], stream: true })).status).toBe(400);
  });
});

it('an API key that is deleted while the body arrives calls no model', async () => {
  const { body: made } = await server.as(root)('POST /auths/api_keys', { name: 'deleted early' });
  const text = JSON.stringify(HELLO);
  // The server knows the key now, and admits the next call without a statement.
  expect((await postJson(`${server.url}/v1/chat/completions`, made.api_key, HELLO)).status).toBe(200);
  const before = stage.provider.chats().length;
  const sent = sendHead('/v1/chat/completions', text.length, { authorization: `Bearer ${made.api_key}` });
  await new Promise((resolve) => sent.write(text.slice(0, 10), resolve));
  expect((await server.as(root)(`DELETE /auths/api_keys/${made.id}`)).status).toBe(200);
  sent.end(text.slice(10));
  const [status, answer] = await answerOf(sent);
  expect([status, answer.error.code]).toEqual([401, 'unauthenticated']);
  expect(stage.provider.chats().length).toBe(before);
});

describe('an API key that reaches only some paths', () => {
  const statuses = async (...paths: string[]) => {
    const bound = await makeKey(server, root, ...paths);
    const asked = ROUTES.map(([path, body]) => postJson(`${server.url}/api/v1${path}`, bound, body));
    return (await Promise.all(asked)).map(({ status }) => status);
  };

  it.each([
    ['/api/chat', [200, 403, 403, 403, 403]],
    ['/v1/embeddings', [403, 200, 403, 403, 403]],
    ['/api/v1/messages', [403, 403, 200, 200, 200]],
    ['/v1', [200, 200, 200, 200, 200]],
    ['/api/channels', [403, 403, 403, 403, 403]],
  ])('%s', async (path, expected) => {
    expect(await statuses(path)).toEqual(expected);
  });
});

describe('addresses under /v1', () => {
  it('that do not exist answer 404, and wrong methods 405, in the shape of OpenAI', async () => {
    const response = await fetch(`${server.url}/v1/completions`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { code: 'not_found', type: 'invalid_request_error' } },
    ]);
    expect(await codeOf(await fetch(`${server.url}/v1/chat/completions`))).toEqual([
      405,
      'method_not_allowed',
    ]);
  });
});

describe('large bodies', () => {
  const MIB = 1024 ** 2;

  it('that are announced and never sent take no room', async () => {
    const authorization = { authorization: `Bearer ${key}` };
    const held = [0, 1, 2, 3, 4].map(() => sendHead('/v1/chat/completions', 32 * MIB, authorization));
    const long = { ...HELLO, messages: [{ role: 'user', content: 'x'.repeat(3 * MIB) }] };
    expect((await post('/v1/chat/completions', long)).status).toBe(200);
    for (const sent of held) sent.destroy();
  });

  it('that stall give their room back when another needs it, and are refused', async () => {
    const almost = 32 * MIB - 1;
    const stalled = [];
    for (const token of [root.token, root.token, ann.token, ann.token]) {
      const sent = sendHead('/v1/chat/completions', almost + 1, { authorization: `Bearer ${token}` });
      await new Promise((resolve) => sent.write(Buffer.alloc(almost, ' '), resolve));
      stalled.push(answerOf(sent));
    }
    const ben = await signUpAs(server, root, 'Ben', 'user');
    const long = { ...HELLO, model: 'small', messages: [{ role: 'user', content: 'x'.repeat(3 * MIB) }] };
    const ask = () => postJson(`${server.url}/v1/chat/completions`, ben.token, long);
    // Without a right to the model, the answer after the body is 404.
    await until('room', async () => (await ask()).status === 404);
    const [status, answer] = await Promise.race(stalled);
    expect([status, answer.error.code]).toEqual([503, 'unavailable']);
  });

  it.each([
    [
      'stall',
      async function* (ended: Promise<unknown>) {
        yield Buffer.alloc(3 * MIB, 'x');
        await ended;
      },
    ],
    [
      'come too slowly',
      async function* () {
        yield Buffer.alloc(3 * MIB, 'x');
        for (;;) {
          yield Buffer.from('x');
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
    ],
  ])('that %s are refused after a while, and give their room back', async (_, pieces) => {
    const bodies = createLargeBodies({ ofAll: 4 * MIB, ofOne: 4 * MIB, patienceMs: 100 });
    const read = (body: Readable) =>
      bodies.read({ raw: { headers: {} }, headers: {}, body } as never, 'ann', 8 * MIB);
    const ended = Promise.withResolvers<void>();
    await expect(read(Readable.from(pieces(ended.promise)))).rejects.toMatchObject({
      code: 'bad_request',
      message: 'The body comes too slowly.',
    });
    ended.resolve();
    expect((await read(Readable.from([Buffer.alloc(4 * MIB, 'x')]))).text).toHaveLength(4 * MIB);
  });

  it('take the room of their caller as they arrive, and give it back', async () => {
    const bodies = createLargeBodies({ ofAll: 6 * MIB, ofOne: 4 * MIB, patienceMs: 10_000 });
    const read = (person: string, bytes: number) => {
      const body = Readable.from([Buffer.alloc(bytes, 'x')]);
      return bodies.read({ raw: { headers: {} }, headers: {}, body } as never, person, 8 * MIB);
    };
    const first = await read('ann', 3 * MIB);
    await expect(read('ann', 2 * MIB)).rejects.toMatchObject({ code: 'unavailable' });
    const second = await read('bob', 3 * MIB);
    await expect(read('cleo', 2 * MIB)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await read('cleo', 1000)).text).toHaveLength(1000);
    first.release();
    second.release();
    expect((await read('ann', 4 * MIB)).text).toHaveLength(4 * MIB);
  });
});

describe('text of a model', () => {
  it('reaches the client unchanged, and no header or event is made of it', async () => {
    const text = '</script>\n\ndata: {"error": "x"}\n\nevent: execute\r\n\u2028{"type":"execute"}';
    stage.provider.script((_request, wire) => {
      wire.delta({ content: text });
      wire.finish();
    });
    const response = await post('/v1/chat/completions', { ...HELLO, stream: true });
    const [first, ...others] = dataOf(await response.text()) as Answer[];
    expect(first.choices[0].delta.content).toBe(text);
    expect(others).toHaveLength(2);
  });
});

describe('a caller beyond a budget', () => {
  it('gets 429 with Retry-After in the shape of each door, and a stream has that status', async () => {
    await limitTo(server, root, { scope: 'user', requests: 0, per: 'day' });
    const shapes = { '/chat/completions': 'openai', '/embeddings': 'openai', '/messages': 'anthropic' };
    for (const [path, body] of ROUTES.filter(([path]) => path in shapes)) {
      const response = await post(`/v1${path}`, { ...body, stream: true });
      const answer = (await response.json()) as Answer;
      expect([response.status, shapeOf(answer), answer.error.type, answer.error.code]).toEqual([
        429,
        shapes[path as keyof typeof shapes],
        'rate_limit_error',
        'budget_exceeded',
      ]);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await limitTo(server, root);
  });
});
