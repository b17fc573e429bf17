import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWorkshop, type Workshop } from './workshop.ts';

const SOURCE = `import json, urllib.parse
from typing import Any, Literal, Optional
from pydantic import AliasChoices, Base64Str, Base64UrlStr, BaseModel, Field, Json, SecretStr
class Account(BaseModel):
    name: str = ""
    door: Optional[SecretStr] = None
def plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
class Tools:
    class Valves(BaseModel):
        pin: int = 0
        code: str = ""
        gate: SecretStr = SecretStr("")
        hint: Any = Field(default=None, json_schema_extra={"input": {"type": "password"}})
        many: list[SecretStr] = []
        accounts: list[Account] = []
        other: SecretStr = Field(default=SecretStr(""), validation_alias=AliasChoices("main", "second"))
        mode: Literal["verbose", "4000"] = "verbose"
        word: str = ""
        count: int = 0
        price: float = 0
        phrase: str = ""
        account: Json = "{}"
        coded: Base64Str = ""
        coded_otherwise: Base64UrlStr = ""
    class UserValves(BaseModel):
        numbers: list[int] = []
        star: SecretStr = SecretStr("")
    def __init__(self):
        self.valves = self.Valves()
    def quote(self, name: str):
        value = plain(getattr(self.valves, name))
        raise ValueError(f"<{[plain(one) for one in value] if name == 'many' else value}> refused")
    def nested(self):
        one, = self.valves.accounts
        raise ValueError(f"{one.name} stands at {plain(one.door)}")
    def signed_in(self):
        one = self.valves.account
        raise ValueError(f"{one['mail']} with {one['keys'][0]['pin']} at {one['at']}")
    def ways(self):
        text = self.valves.phrase
        ways = [json.dumps(text), urllib.parse.quote(text), urllib.parse.quote_plus(text), urllib.parse.quote(text, safe="")]
        raise ValueError(" | ".join(ways))
    def long(self):
        raise ValueError("x" * 1_977 + " 7" + self.valves.phrase)
    def stars(self, __user__: dict = {}):
        raise ValueError("1 * 2 ** 3")
`;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  expect((await shop.create('safe', SOURCE)).status).toBe(200);
});
afterAll(() => shop.close());

const set = async (values: object, path = 'valves/update', person = shop.author) =>
  expect((await shop.as(person, 'POST', `safe/${path}`, values)).status).toBe(200);
async function fail(name: string, args: object = {}): Promise<string> {
  const { status, body } = await shop.as(shop.reader, 'POST', 'safe/call', {
    function: name,
    arguments: args,
  });
  expect([status, body.code]).toEqual([422, 'tool_raised']);
  return body.detail;
}

it.each<[string, string, unknown, string]>([
  ['a number of four digits', 'pin', 9137, '<********>'],
  ['a negative number', 'pin', -9137, '<-********>'],
  ['digits within a text', 'code', '9137', '<********>'],
  ['a short SecretStr', 'gate', 'xy', '<********>'],
  ['a number in a password field', 'hint', 7, '<********>'],
  ['each secret of a list', 'many', ['ab', 'cd'], "<['********', '********']>"],
  ['a fraction', 'price', 12.75, '<********>'],
  ['a secret in Base64', 'coded', Buffer.from('a~pass??>').toString('base64'), '<********>'],
  [
    'a secret in URL-safe Base64',
    'coded_otherwise',
    Buffer.from('a~pass??>').toString('base64url'),
    '<********>',
  ],
  ['no ordinary text', 'word', 'Bern', '<Bern>'],
  ['no ordinary number', 'count', 512, '<512>'],
  ['no choice of the class', 'mode', 'verbose', '<verbose>'],
  ['no choice in digits', 'mode', '4000', '<4000>'],
])('an error hides %s', async (_what, name, value, shown) => {
  await set({ [name]: value });
  expect(await fail('quote', { name })).toBe(`ValueError: ${shown} refused`);
  await set({ [name]: null });
});

it('an error hides a secret of a nested class, and a secret that was set under an alias', async () => {
  await set({ accounts: [{ name: 'Main', door: 'B4' }], second: 'zy' });
  expect(await fail('nested')).toBe('ValueError: Main stands at ********');
  expect(await fail('quote', { name: 'other' })).toBe('ValueError: <********> refused');
  await set({ accounts: null, second: null });
});

it('an error hides secrets within a text of JSON', async () => {
  const account = JSON.stringify({ mail: 'owl@corp.example', keys: [{ pin: 9137 }], at: 'Bern' });
  await set({ account });
  expect(await fail('signed_in')).toBe('ValueError: ******** with ******** at Bern');
  await set({ account: null, phrase: '['.repeat(100_000) + ']'.repeat(100_000) });
  expect(await fail('stars')).toBe('ValueError: 1 * 2 ** 3');
  await set({ phrase: null });
});

it('an error hides a secret in every spelling, and where the text is cut', async () => {
  const phrase = "Zürich's/Tor (1)!";
  await set({ phrase });
  expect(await fail('ways')).toBe('ValueError: "********" | ******** | ******** | ********');
  const cut = await fail('long');
  expect(cut).toMatch(/x 7\*{8}…$/);
  await set({ phrase: null });
});

it('masking leaves other masks unchanged', async () => {
  await set({ star: '*' }, 'valves/user/update', shop.reader);
  expect(await fail('stars')).toBe('ValueError: 1 ******** 2 ******** 3');
});

it('an error with too many values to mask shows no text', async () => {
  await set(
    { numbers: Array.from({ length: 20_000 }, (_, at) => 10_000 + at) },
    'valves/user/update',
    shop.reader,
  );
  expect(await fail('stars')).toBe(
    'The tool failed. Its valves hold so many values that what it said is not shown.',
  );
});
