import { createHash } from 'node:crypto';
import { createTRPCClient, httpLink } from '@trpc/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AppRouter } from '../../src/router.ts';
import { until } from '../support/poll.ts';
import type { Answer, Person } from '../support/server.ts';
import { openSocket, openWorkshop, type Workshop } from './workshop.ts';

/** Valves like real ones; some of their characters are escaped in URLs. */
const KEY = 'sk-Z7q+/Wanderfalke&93';
const MINE = 'my-Own/Schleiereule=51';
const DIGEST = createHash('sha256').update(KEY).digest('hex');
/** Matches the secrets in any form in which an error would print them. */
const TRACES = /wanderfalke|schleiereule|sk-z7q|my-own/i;

const SOURCE = `import time, urllib.parse
from pydantic import BaseModel, Field, field_validator
class Tools:
    class Valves(BaseModel):
        api_key: str = ""
        mode: str = Field(default="plain", json_schema_extra={"enum": ["plain", "verbose"]})
        count: int = 0
        @field_validator("api_key")
        @classmethod
        def known(cls, value):
            if value.startswith("!"):
                raise ValueError(f"{value} is no key")
            if value.startswith("?"):
                raise ValueError(f"a key such as {value[1:9].upper()}… is too old: {value[1:]!r}")
            if value.startswith("hang"):
                time.sleep(60)
            if value.startswith("exit"): raise SystemExit(value)
            return value
    class UserValves(BaseModel):
        token: str = ""
    def __init__(self):
        self.valves = self.Valves()
    def fetch(self, __user__: dict = {}):
        key, token = self.valves.api_key, __user__["valves"].token
        raise ConnectionError(f"GET https://api.example/?{urllib.parse.urlencode({'key': key})}&t={token} in mode {self.valves.mode}")
    def repeat(self, __user__: dict = {}):
        raise ValueError(self.valves, __user__["valves"])
    def quote(self):
        raise OSError(f"GET /{urllib.parse.quote(self.valves.api_key)}/weather failed")
    def cut(self):
        raise ValueError("x" * 1_975 + " " + self.valves.api_key * 40)
    def leave(self):
        import os; print(self.valves); os._exit(3)
    def hang(self):
        time.sleep(60)
    def odd(self): return object()
    def digest(self):
        import hashlib
        return hashlib.sha256(self.valves.api_key.encode()).hexdigest()
`;

let shop: Workshop;
let log = '';
beforeAll(async () => {
  shop = await openWorkshop(
    // The limits for functions that hang; all others must end within them.
    { callTimeoutMs: 5_000, loadTimeoutMs: 5_000 },
    {
      log: {
        write(line) {
          log += line;
        },
      },
    },
  );
  expect((await shop.create('vault', SOURCE)).status).toBe(200);
  const set = await update({ api_key: KEY, mode: 'verbose' });
  expect(set).toMatchObject({ status: 200, body: { api_key: KEY } });
  await shop.as(shop.reader, 'POST', 'vault/valves/user/update', { token: MINE });
});
afterAll(() => shop.close());

const update = (values: object) => shop.as(shop.author, 'POST', 'vault/valves/update', values);

/** Checks that body and headers of an answer contain no valve. */
async function note(what: string, answer: Promise<Answer>): Promise<Answer> {
  const { status, body, headers } = await answer;
  expect(JSON.stringify([body, [...headers]]), what).not.toMatch(TRACES);
  return { status, body, headers };
}

it('the tool gets its valves, and its own error shows none of their secrets', async () => {
  expect((await run('digest')).body.result).toBe(DIGEST);
  const { status, body } = await note('fetch', run('fetch'));
  expect(status).toBe(422);
  expect(body.detail).toBe(
    'ConnectionError: GET https://api.example/?key=********&t=******** in mode verbose',
  );
});

const run = (name: string, person: Person = shop.reader) =>
  shop.as(person, 'POST', 'vault/call', { function: name });

it.each(['fetch', 'repeat', 'quote', 'cut', 'leave', 'hang', 'odd'])(
  'a failed call quotes no valve: %s',
  async (name) => {
    // Each call that hangs takes all its time.
    for (const person of name === 'hang' ? [shop.reader] : [shop.reader, shop.author]) {
      const { status } = await note(name, run(name, person));
      expect([422, 504]).toContain(status);
    }
  },
);

it.each([
  ['quotes it', { api_key: `!${KEY}` }, 400],
  ['quotes a part of it in capitals', { api_key: `?${KEY}` }, 400],
  ['expects a number', { count: KEY }, 400],
  ['hangs', { api_key: `hang${KEY}` }, 504],
  ['ends its process', { api_key: `exit${KEY}` }, 422],
  ['does not run, since the body is no object', [KEY], 400],
  ['does not run, since the value cannot be stored', { api_key: `${KEY}\0` }, 400],
  ['does not run, since the value is too large', { api_key: KEY.repeat(20_000) }, 400],
])('a refused update quotes no valve when the validator %s', async (_what, values, status) => {
  const refused = await note('update', update(values));
  expect(refused.status).toBe(status);
});

it('a class that rejects the stored values names them, and one that hangs is stopped', async () => {
  const change = (content: string) =>
    shop.as(shop.author, 'POST', 'vault/update', { name: 'vault', content, meta: {} });
  const strict = SOURCE.replace('startswith("!")', 'startswith("sk-")');
  expect((await note('update', change(strict))).status).toBe(200);
  const refused = await note('strict', run('digest'));
  expect([refused.status, refused.body.detail]).toEqual([
    422,
    'The valves of the tool are not valid: api_key.',
  ]);
  const hanging = SOURCE.replace('startswith("hang")', 'startswith("sk-")');
  expect((await note('update', change(hanging))).status).toBe(200);
  expect([503, 504]).toContain((await note('hanging', run('digest'))).status);
  const stuck = `${SOURCE}    class UserValves:\n        time.sleep(60)\n`;
  expect((await note('a class that hangs at load', change(stuck))).body.code).toBe('tool_invalid');
  expect((await note('update', change(SOURCE))).status).toBe(200);
  expect((await run('digest')).body.result).toBe(DIGEST);
});

it('no door shows valves to callers without the right, and no list, run or log contains them', async () => {
  for (const person of [shop.reader, shop.stranger, null]) {
    for (const path of ['versions', 'runs', 'install']) {
      expect((await note(path, shop.as(person, 'GET', `vault/${path}`))).status).toBe(401);
    }
    // Readers get masked values.
    const forReaders = person === shop.reader ? 200 : 401;
    for (const path of ['valves', 'valves/spec']) {
      expect((await note(path, shop.as(person, 'GET', `vault/${path}`))).status).toBe(forReaders);
    }
    expect(
      (await note('update', shop.as(person, 'POST', 'vault/valves/update', { mode: 'plain' }))).status,
    ).toBe(401);
  }
  await shop.permit('workspace.tools_export', true);
  for (const { token } of [shop.author, shop.writer, shop.reader, shop.admin]) {
    const get = (path: string) => note(path, shop.server.call(`GET ${path}`, { token }));
    for (const path of ['/tools', '/tools/list', '/tools/export', '/tools/id/vault', '/users/permissions']) {
      expect((await get(path)).status).toBe(200);
    }
    await get(`/access/explain?resource_type=tool&resource_id=vault&user_id=${shop.reader.id}`);
  }
  for (const path of ['runs', 'versions', 'versions/1', 'valves/spec', 'install']) {
    expect((await note(path, shop.as(shop.writer, 'GET', `vault/${path}`))).status).toBe(200);
  }
  for (const path of ['/audit', '/configs/export?secrets=true', '/configs/history', '/configs/explain']) {
    expect((await note(path, shop.server.call(`GET ${path}`, { token: shop.admin.token }))).status).toBe(200);
  }
});

it('the typed client gets no valve in errors', async () => {
  const { url } = shop.server;
  const headers = { authorization: `Bearer ${shop.reader.token}` };
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc`, headers })] });
  const failed = await client.tools.invoke.mutate({ id: 'vault', function: 'fetch' }).catch((error) => error);
  const { client: live, sockets } = openSocket(url, shop.reader.token);
  let error: unknown;
  live.tools.run.subscribe(
    { id: 'vault', function: 'fetch' },
    {
      onError: (reason) => {
        error = reason;
      },
    },
  );
  await until('the run to fail', () => error);
  sockets.close();
  for (const one of [failed, error] as { message: string; shape: unknown }[]) {
    expect(one.message).toContain('ConnectionError');
    expect(JSON.stringify([one.message, one.shape, one])).not.toMatch(TRACES);
  }
});

it('an error of the database while it stores valves quotes none', async () => {
  const { database } = shop.server;
  await database.query('alter table tool add constraint refusing check (valves is null) not valid');
  expect((await note('update', update({ api_key: `${KEY}.` }))).status).toBe(500);
  await database.query('alter table tool drop constraint refusing');
  expect(log).toContain('request failed');
});

it('neither the log nor a table contains valves', async () => {
  expect(log).not.toMatch(TRACES);
  const { database } = shop.server;
  const tables = await database.query<{ name: string }>(
    "select format('%I', tablename) as name from pg_tables where schemaname = 'public'",
  );
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const [row] = await database.query<{ n: number }>(
      `select count(*)::int as n from ${name} t where t::text ~* 'wanderfalke|schleiereule'`,
    );
    expect([name, row?.n]).toEqual([name, 0]);
  }
});
