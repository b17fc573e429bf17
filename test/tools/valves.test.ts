import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordStatements } from '../support/statements.ts';
import { openWorkshop } from './workshop.ts';

const SOURCE = `from typing import Literal, Optional
from pydantic import BaseModel, Field, field_validator
class Tools:
    class Valves(BaseModel):
        api_key: str = Field(default="", description="Of the weather service")
        retries: int = Field(default=3, ge=0)
        unit: Literal["c", "f"] = "c"
        place: str = Field(default="", json_schema_extra={"input": {"type": "select", "options": "places"}})
        @classmethod
        def places(cls, __user__=None): return ["here", __user__["name"]]
        @field_validator("api_key")
        @classmethod
        def known(cls, value):
            if value.startswith("bad"): raise ValueError(f"{value} is no key")
            return value
    class UserValves(BaseModel):
        tone: str = "dry"
        token: Optional[str] = None
    def __init__(self):
        self.valves = self.Valves()
    def show(self, __user__={}):
        return [self.valves.api_key, self.valves.retries, __user__["valves"].tone, __user__["valves"].token]
`;
const PLAIN = 'class Tools:\n    def f(self): return 1\n';
const SECRET = 'k-s3cret-1234';

const shop = await openWorkshop();
afterAll(() => shop.close());

beforeAll(async () => {
  expect((await shop.create('weather', SOURCE)).status).toBe(200);
  expect((await shop.create('plain', PLAIN)).status).toBe(200);
});

const show = async (person = shop.reader) =>
  (await shop.as(person, 'POST', 'weather/call', { function: 'show' })).body.result;
const update = (values: unknown, person = shop.author, path = 'weather/valves/update') =>
  shop.as(person, 'POST', path, values);

describe('valves of a tool', () => {
  it('are empty at first, and have the specification that Pydantic writes', async () => {
    expect((await shop.as(shop.author, 'GET', 'weather/valves')).body).toEqual({});
    const { body } = await shop.as(shop.author, 'GET', 'weather/valves/spec');
    expect(body).toMatchObject({
      title: 'Valves',
      type: 'object',
      properties: {
        api_key: { title: 'Api Key', type: 'string', default: '', description: 'Of the weather service' },
        retries: { minimum: 0, default: 3 },
        unit: { enum: ['c', 'f'] },
        place: { input: { type: 'select', options: ['here', 'Author'] } },
      },
    });
    expect(Object.keys(body.properties)).toEqual(['api_key', 'retries', 'unit', 'place']);
  });

  it('have a specification even when the method for choices ends its process', async () => {
    const content = SOURCE.replace('return ["here", __user__["name"]]', '__import__("os")._exit(3)');
    await shop.create('dying', content);
    const { status, body } = await shop.as(shop.author, 'GET', 'dying/valves/spec');
    expect([status, body.properties.place.input.options]).toEqual([200, 'places']);
  });

  it('have a specification with the choices that arrive in time', async () => {
    const select = (method: string) =>
      `str = Field("", json_schema_extra={"input": {"type": "select", "options": "${method}"}})`;
    const source = `import asyncio, threading
from pydantic import BaseModel, Field
class Tools:
    class Valves(BaseModel):
        first: ${select('hang')}
        second: ${select('wait')}
        third: ${select('fail')}
        fourth: ${select('choose')}
        @classmethod
        def hang(cls): return threading.Event().wait(60)
        @classmethod
        async def wait(cls): await asyncio.sleep(60)
        @classmethod
        def fail(cls): raise SystemExit(1)
        @classmethod
        async def choose(cls, user): return ("a", user["name"])
`;
    expect((await shop.create('choosy', source)).status).toBe(200);
    const { body } = await shop.as(shop.author, 'GET', 'choosy/valves/spec');
    const offered = Object.values<{ input: { options: unknown } }>(body.properties);
    expect(offered.map(({ input }) => input.options)).toEqual(['hang', 'wait', 'fail', ['a', 'Author']]);
  });

  it('are converted, kept when not sent, and reset to their default by null', async () => {
    expect((await update({ api_key: SECRET, retries: '5' })).body).toEqual({ api_key: SECRET, retries: 5 });
    expect((await update({ unit: 'f' })).body).toEqual({ api_key: SECRET, retries: 5, unit: 'f' });
    expect((await update({ retries: null, unit: null })).body).toEqual({ api_key: SECRET });
    expect((await shop.as(shop.author, 'GET', 'weather/valves')).body).toEqual({ api_key: SECRET });
  });

  it('are stored as they were sent when the class does not accept the converted value', async () => {
    const source = `from pydantic import Base64Str, BaseModel, Json, field_validator
class Tools:
    class Valves(BaseModel):
        options: Json = "{}"
        text: Base64Str = ""
        header: str = ""
        count: int = 0
        @field_validator("header")
        @classmethod
        def as_bearer(cls, value): return f"Bearer {value}"
    def __init__(self): self.valves = self.Valves()
    def show(self): return self.valves
`;
    expect((await shop.create('again', source)).status).toBe(200);
    const given = { options: '{"a": [1]}', text: 'QmVybg==', header: 'k-1234' };
    const { status, body } = await update({ ...given, count: '2' }, shop.author, 'again/valves/update');
    expect([status, body]).toEqual([200, { ...given, count: 2 }]);
    expect((await update({ count: 3 }, shop.author, 'again/valves/update')).body).toEqual({
      ...given,
      count: 3,
    });
    const call = await shop.as(shop.reader, 'POST', 'again/call', { function: 'show' });
    expect(call.body.result).toMatchObject({ options: { a: [1] }, header: 'Bearer k-1234', count: 3 });
  });

  it('apply to the next call, also when they are reset', async () => {
    await update({ api_key: 'one', retries: 1 });
    expect(await show()).toEqual(['one', 1, 'dry', null]);
    await update({ api_key: 'two' });
    expect(await show()).toEqual(['two', 1, 'dry', null]);
    await update({ api_key: null, retries: null });
    expect(await show()).toEqual(['', 3, 'dry', null]);
  });

  it('name the members that they ignore', async () => {
    const { body, headers } = await update({ api_key: SECRET, api_kee: 'x' });
    expect(body).toEqual({ api_key: SECRET });
    expect(headers.get('x-ignored-members')).toBe('api_kee');
  });

  it.each([
    ['a wrong type', { retries: 'many-s3cret' }, 'valves_invalid'],
    ['out of bounds', { retries: -1 }, 'valves_invalid'],
    ['a value that the tool rejects', { api_key: 'bad-s3cret' }, 'valves_invalid'],
    ['a body that is no object', ['s3cret'], 'validation'],
    ['NUL', { api_key: 's3cret\0' }, 'validation'],
    ['a value that is too large', { api_key: 's3cret'.repeat(60_000) }, 'validation'],
  ])('refuse %s, quote none of it, and stay unchanged', async (_what, values, code) => {
    const before = (await shop.as(shop.author, 'GET', 'weather/valves')).body;
    const { status, body } = await update(values);
    expect([status, body.code]).toEqual([400, code]);
    expect(JSON.stringify(body)).not.toContain('s3cret');
    expect((await shop.as(shop.author, 'GET', 'weather/valves')).body).toEqual(before);
  });

  it('keep both of two concurrent changes', async () => {
    await update({ api_key: null, retries: null, unit: null });
    const answers = await Promise.all([
      update({ api_key: 'k' }),
      update({ retries: 9 }),
      update({ unit: 'f' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await shop.as(shop.author, 'GET', 'weather/valves')).body).toEqual({
      api_key: 'k',
      retries: 9,
      unit: 'f',
    });
  });

  it('are sealed in the database, and cannot be moved to another tool', async () => {
    await update({ api_key: SECRET });
    const { database } = shop.server;
    const [row] = await database.query<{ valves: string }>("select valves from tool where id = 'weather'");
    expect(row?.valves).toMatch(/^v1\./);
    expect(Buffer.from(row?.valves ?? '', 'base64').toString('latin1')).not.toContain(SECRET);
    const [whole] = await database.query<{ found: number }>(
      `select count(*)::int as found from tool t, tool_version v
         where t::text like '%${SECRET}%' or v::text like '%${SECRET}%'`,
    );
    expect(whole?.found).toBe(0);
    await shop.create('thief', SOURCE);
    await database.query(
      "update tool set valves = (select valves from tool where id = 'weather') where id = 'thief'",
    );
    const moved = await shop.as(shop.author, 'GET', 'thief/valves');
    expect([moved.status, moved.body.code]).toEqual([503, 'unavailable']);
    // They can be set again.
    expect((await update({ retries: 1 }, shop.author, 'thief/valves/update')).body).toEqual({ retries: 1 });
  });

  it('that a new source rejects fail the call, and the error quotes none', async () => {
    await shop.create('strict', SOURCE);
    await update({ api_key: SECRET }, shop.author, 'strict/valves/update');
    const content = SOURCE.replace(
      'api_key: str = Field(default="", ',
      'api_key: int = Field(default=0, ',
    ).replace('if value.startswith("bad")', 'if value < 0');
    const body = { name: 'strict', content, meta: {} };
    expect((await shop.as(shop.author, 'POST', 'strict/update', body)).status).toBe(200);
    const called = await shop.as(shop.reader, 'POST', 'strict/call', { function: 'show' });
    expect([called.status, called.body.code]).toEqual([422, 'tool_raised']);
    expect(called.body.detail).toContain('api_key');
    expect(JSON.stringify(called.body)).not.toContain(SECRET);
  });
});

describe("a user's own valves", () => {
  const mine = (person: typeof shop.reader, values: unknown) =>
    update(values, person, 'weather/valves/user/update');

  it('belong to one user, and reach the tool when that user calls', async () => {
    await update({ api_key: null, retries: null, unit: null });
    expect((await mine(shop.reader, { tone: 'warm' })).body).toEqual({ tone: 'warm' });
    expect((await mine(shop.reader, { token: SECRET })).body).toEqual({ tone: 'warm', token: SECRET });
    expect((await shop.as(shop.writer, 'GET', 'weather/valves/user')).body).toEqual({});
    expect(await show(shop.reader)).toEqual(['', 3, 'warm', SECRET]);
    expect(await show(shop.author)).toEqual(['', 3, 'dry', null]);
    expect((await mine(shop.reader, { token: null })).body).toEqual({ tone: 'warm' });
  });

  it('appear in the settings of their owner, and can be set there', async () => {
    const settings = (body?: unknown) =>
      shop.server.as(shop.reader)(
        `${body ? 'POST' : 'GET'} /users/user/settings${body ? '/update' : ''}`,
        body,
      );
    await mine(shop.reader, { tone: 'warm' });
    const { body: before } = await settings();
    expect(before).toEqual({ ui: {}, tools: { valves: { weather: { tone: 'warm' } } } });
    const sent = { tools: { kept: 1, valves: { weather: { tone: 'cool', token: SECRET } } } };
    expect((await settings(sent)).body).toEqual({ ui: {}, ...sent });
    expect(await show(shop.reader)).toEqual(['', 3, 'cool', SECRET]);
    // Clients send back the settings that they got, with a change elsewhere.
    expect((await settings({ ...before, ui: { theme: 'dark' } })).body.tools.valves.weather.tone).toBe(
      'warm',
    );
    const [row] = await shop.server.database.query<{ text: string }>(
      'select settings::text as text from users where id = $1',
      [shop.reader.id],
    );
    expect(row?.text).not.toContain('warm');
    const refused = await settings({ tools: { valves: { nothing: { tone: 'x' } } } });
    expect([refused.status, refused.body.code]).toEqual([404, 'not_found']);
    expect((await settings({ tools: { valves: { weather: null } } })).body.tools.valves.weather).toEqual({});
    expect((await settings({ ui: null })).body.ui).toEqual({});
  });

  it('are sealed for their owner, and deleted with the tool or the owner', async () => {
    const { database } = shop.server;
    const count = async () =>
      (await database.query<{ n: number }>('select count(*)::int as n from tool_user_valves'))[0]?.n;
    await mine(shop.writer, { token: SECRET });
    const rows = await database.query<{ valves: string }>('select valves from tool_user_valves');
    expect(rows.every(({ valves }) => valves.startsWith('v1.'))).toBe(true);
    await database.query(
      'update tool_user_valves set valves = (select valves from tool_user_valves where user_id = $1)',
      [shop.writer.id],
    );
    expect((await shop.as(shop.reader, 'GET', 'weather/valves/user')).status).toBe(503);
    expect((await shop.as(shop.writer, 'GET', 'weather/valves/user')).body.token).toBe(SECRET);
    expect((await mine(shop.reader, { tone: 'new' })).body).toEqual({ tone: 'new' });
    await shop.create('passing', SOURCE);
    await update({ tone: 'x' }, shop.reader, 'passing/valves/user/update');
    expect(await count()).toBe(3);
    await shop.as(shop.author, 'DELETE', 'passing/delete');
    expect(await count()).toBe(2);
    await shop.create('passing', SOURCE);
    expect((await shop.as(shop.reader, 'GET', 'passing/valves/user')).body).toEqual({});
  });
});

describe('access to valves:', () => {
  const rows = [
    ['GET', 'valves', undefined],
    ['GET', 'valves/spec', undefined],
    ['POST', 'valves/update', { retries: 2 }],
    ['GET', 'valves/user', undefined],
    ['GET', 'valves/user/spec', undefined],
    ['POST', 'valves/user/update', { tone: 'flat' }],
  ] as const;

  it.each(rows)('%s %s', async (method, path, body) => {
    const status = async (person: typeof shop.reader | null) =>
      (await shop.as(person, method, `weather/${path}`, body)).status;
    expect(await status(null)).toBe(401);
    expect(await status(shop.stranger)).toBe(401);
    expect(await status(shop.reader)).toBe(path === 'valves/update' ? 401 : 200);
    for (const person of [shop.writer, shop.author, shop.admin]) expect(await status(person)).toBe(200);
    expect((await shop.as(shop.author, method, `nothing/${path}`, body)).status).toBe(404);
  });

  it.each(rows)('%s %s of a tool without this class', async (method, path, body) => {
    const { status, body: answer } = await shop.as(shop.author, method, `plain/${path}`, body);
    if (method === 'POST') expect([status, answer.code]).toEqual([404, 'not_found']);
    else expect([status, answer]).toEqual([200, path.endsWith('spec') ? null : {}]);
  });

  it('readers get the settings with every text masked that differs from its default', async () => {
    const source =
      'from pydantic import BaseModel\nclass Tools:\n    class Valves(BaseModel):\n        key: str = ""\n        unit: str = "c"\n        hosts: list[str] = []\n        count: int = 1\n        map: dict[str, str] = {}\n';
    await shop.create('masked', source);
    const values = { key: SECRET, unit: 'c', hosts: [SECRET, 'b'], count: 7, map: { [SECRET]: 'x' } };
    expect((await update(values, shop.author, 'masked/valves/update')).status).toBe(200);
    const mask = '********';
    const hidden = { key: mask, unit: 'c', hosts: [mask, mask], count: 7, map: mask };
    expect((await shop.as(shop.reader, 'GET', 'masked/valves')).body).toEqual(hidden);
    for (const person of [shop.writer, shop.author, shop.admin])
      expect((await shop.as(person, 'GET', 'masked/valves')).body).toEqual(values);
    const { body } = await shop.as(shop.reader, 'GET', 'masked/valves/spec');
    expect(Object.keys(body.properties)).toEqual(['key', 'unit', 'hosts', 'count', 'map']);
  });

  it('a call reads everything that it needs in one statement, valves included', async () => {
    await show();
    const statements = await recordStatements(show);
    expect(statements.filter((text) => /from tool t/.test(text))).toHaveLength(1);
  });
});
