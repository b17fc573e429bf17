import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { checkJsonText } from '../../src/core/json/incoming.ts';
import { LIMITS } from '../../src/core/wire.ts';
import { startToy } from './toy.ts';

const toy = await startToy();
afterAll(() => toy.close());

const TOKEN = { authorization: 'Bearer member-token' };

interface Answer {
  status: number;
  code: string | undefined;
  detail: string | undefined;
}

interface Failed {
  error_code: string;
  detail: string;
}

async function post(path: string, body: string): Promise<Answer> {
  const headers = { ...TOKEN, 'content-type': 'application/json' };
  const response = await fetch(toy.url + path, { method: 'POST', headers, body });
  const answer = (await response.json()) as Partial<Answer> & { error?: { data: Partial<Failed> } };
  const { error_code, detail } = answer.error?.data ?? {};
  return { status: response.status, code: answer.code ?? error_code, detail: answer.detail ?? detail };
}

/** Send this text unchanged as the body of an update, which stores `data`, at each door. */
const DOORS: [string, (body: string) => Promise<Answer>][] = [
  ['REST', (body) => post('/api/v1/things/x/update', body)],
  ['tRPC over HTTP', (body) => post('/trpc/things.update', body.replace('{', '{"id":"x",'))],
  [
    'tRPC over a socket',
    (body) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc`, { headers: TOKEN });
        const input = body.replace('{', '{"id":"x",');
        const call = `{"id":1,"method":"mutation","params":{"path":"things.update","input":${input}}}`;
        socket.once('open', () => socket.send(call));
        socket.once('error', reject);
        socket.once('message', (sent) => {
          const { error } = JSON.parse(String(sent));
          const { httpStatus = 200, error_code, detail } = error?.data ?? {};
          resolve({ status: httpStatus, code: error_code, detail });
          socket.close();
        });
      }),
  ],
];

const ones = (count: number) => Array(count).fill(1).join();
/** An object with this number of members, all with different names. */
const names = (count: number, beginning = 'k') =>
  `{${Array.from({ length: count }, (_, n) => `"${beginning}${n}":1`)}}`;
/** Objects with the same names in different orders. */
const orders = (count: number, objects: number) =>
  Array.from({ length: objects }, (_, first) => {
    const all = Array.from({ length: count }, (_, n) => `"k${(n + first) % count}":1`);
    return `{${all}}`;
  });
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const update = (data: string, name = 'n') => `{"name":"${name}","data":{"a":${data}}}`;
/** The number of values in an update beside `data.a`, with the envelope of the door. */
const BESIDE = 12;

describe.each(DOORS)('a body at %s', (_door, send) => {
  it('may be as large as real use needs', async () => {
    expect(await send(update(`[${ones(LIMITS.jsonValues - BESIDE)}]`))).toMatchObject({ status: 200 });
    expect(await send(update(nested(90)))).toMatchObject({ status: 200 });
    // Objects with the same names in the same order cost little each.
    expect(await send(update(`[${Array(300).fill(names(100))}]`))).toMatchObject({ status: 200 });
    expect(await send(update(names(4_900)))).toMatchObject({ status: 200 });
    // Brackets within a text are neither values nor levels.
    const text = JSON.stringify('[{,:"\\\\"'.repeat(10_000));
    expect(await send(update(text))).toMatchObject({ status: 200 });
  });

  it.each([
    ['many values', update(`[${ones(LIMITS.jsonValues + 1)}]`), 'more than 50000 values'],
    ['many empty lists', update(`[${Array(LIMITS.jsonValues).fill('[]')}]`), 'more than 50000 values'],
    ['many names', update(names(6_000)), 'more than 5000 different members'],
    ['names in many orders', update(`[${orders(110, 60)}]`), 'more than 5000 different members'],
    ['the same name many times', `{${Array(60_000).fill('"name":"n"')}}`, 'more than 50000 values'],
    ['too many levels', update(nested(LIMITS.jsonDepth + 1)), 'nested deeper than 128 levels'],
    ['a million levels', update(nested(500_000)), 'nested deeper than 128 levels'],
    ['a million levels of objects', '{"a":'.repeat(250_000), 'nested deeper than 128 levels'],
    ['a prototype', update('{"__proto__":{"polluted":1}}'), '"__proto__"'],
    ['an escaped prototype', update('{"_\\u005Fproto\\u005f_":{"polluted":1}}'), '"__proto__"'],
    ...[...'__proto__'].map((letter, n): [string, string, string] => {
      const number = `\\u00${letter.charCodeAt(0).toString(16)}`;
      const name = `${'__proto__'.slice(0, n)}${number}${'__proto__'.slice(n + 1)}`;
      return [`one with ${name}`, update(`{"${name}":1}`), '"__proto__"'];
    }),
  ])('is refused with %s', async (_what, body, why) => {
    const answer = await send(body);
    expect(answer).toMatchObject({ status: 400, code: 'bad_request' });
    expect(answer.detail).toContain(why);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('may contain the names of prototypes in harmless places', async () => {
    expect(await send(update('{"constructor":{"prototype":1}}', '__proto__'))).toMatchObject({ status: 200 });
  });

  it.each([
    '{"name":"n"',
    '{"name":"n}',
    '{"name":"n\\"}',
    '{"name":"__proto__"',
    '{"a":1}}}}',
    '{"name":"\\u00zz"}',
  ])('is reported as malformed when it is not JSON: %s', async (body) => {
    expect(await send(body)).toMatchObject({ status: 400, code: 'malformed_json' });
  });
});

it('a byte order mark before a body is ignored', async () => {
  expect(await post('/api/v1/things/x/update', `\ufeff${update('1')}`)).toMatchObject({ status: 200 });
  const hidden = `\ufeff${update('{"__proto__":1}')}`;
  expect(await post('/api/v1/things/x/update', hidden)).toMatchObject({ status: 400, code: 'bad_request' });
});

it('reports the first hundred issues', async () => {
  const headers = { ...TOKEN, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'n', grants: Array(5000).fill({}) });
  const response = await fetch(`${toy.url}/api/v1/things/x/update`, { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { issues: unknown[] }).issues).toHaveLength(100);
});

it('texts end where JSON ends them', () => {
  const deep = nested(LIMITS.jsonDepth + 1);
  // An escaped quote does not end a text; a quote behind an escaped backslash does.
  expect(() => checkJsonText(`"\\"${deep}"`)).not.toThrow();
  expect(() => checkJsonText(`"\\\\"${deep}"`)).toThrow('nested');
  expect(() => checkJsonText(`"\\\\\\"${deep}"`)).not.toThrow();
  expect(() => checkJsonText(`"${deep}`)).not.toThrow();
});
