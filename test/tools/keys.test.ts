import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { openWorkshop } from './workshop.ts';

/*
 * An API key that is bound to some paths gets no further than these by the requests of a tool that it calls.
 */

const SOURCE = `
import io
from fastapi import UploadFile
from open_webui.models.files import Files
from open_webui.models.users import Users
from open_webui.routers.files import upload_file_handler

class Tools:
    def plain(self, __user__: dict = {}): return __user__["name"]
    def me(self, __user__: dict = {}): return Users.get_user_by_id(__user__["id"]).name
    def mail(self, __user__: dict = {}): return Users.get_user_by_email(__user__["email"]).name
    def other(self, id: str):
        found = Users.get_user_by_id(id)
        return found and found.name
    def other_mail(self, email: str):
        found = Users.get_user_by_email(email)
        return found and found.name
    def get(self, id: str): return Files.get_file_by_id(id).filename
    def read(self, id: str): return open(Files.get_file_by_id(id).path).read()
    def list(self, __user__: dict = {}): return len(Files.get_files_by_user_id(__user__["id"]))
    def upload(self, __request__=None):
        return upload_file_handler(__request__, UploadFile(io.BytesIO(b"x"), filename="x.txt")).id
    def upload_parts(self, __request__=None):
        return upload_file_handler(__request__, UploadFile(io.BytesIO(b"x" * 5_000_000), filename="y.txt")).id
`;

const shop = await openWorkshop();
afterAll(() => shop.close());

let file: string;
beforeAll(async () => {
  await shop.permit('chat.file_upload', true);
  await shop.permit('features.api_keys', true);
  await restrict(false);
  expect((await shop.create('keyed', SOURCE)).status).toBe(200);
  const { body } = await call(shop.reader.token, 'upload');
  file = body.result;
});

const restrict = (endpoint_restrictions: boolean, allowed_endpoints = '') =>
  shop.configure(({ auth }: Configuration) => {
    auth.enable_api_keys = true;
    auth.api_key = { endpoint_restrictions, allowed_endpoints };
  });

const call = (token: string, name: string, args: object = {}) =>
  shop.server.call('POST /tools/id/keyed/call', { token, body: { function: name, arguments: args } });

let made = 0;
async function keyFor(allowed_endpoints?: string[], person = shop.reader): Promise<string> {
  made += 1;
  const { status, body } = await shop.server.call('POST /auths/api_keys', {
    token: person.token,
    body: { name: `key ${made}`, ...(allowed_endpoints && { allowed_endpoints }) },
  });
  expect(status).toBe(200);
  return body.api_key;
}

/** The functions of the tool that this key gets a result from. */
async function reached(key: string): Promise<string[]> {
  const calls: [name: string, args?: object][] = [
    ['plain'],
    ['me'],
    ['mail'],
    ['get', { id: file }],
    ['read', { id: file }],
    ['list'],
    ['upload'],
    ['upload_parts'],
  ];
  const answers = await Promise.all(
    calls.map(async ([name, args]) => {
      const { status, body } = await call(key, name, args);
      if (status === 200) return name;
      expect([status, body.code]).toEqual([422, 'tool_raised']);
      expect(body.detail).toMatch(/key of the caller does not reach what the tool asks for under \/api\/\w+/);
      return undefined;
    }),
  );
  return answers.filter((name) => name !== undefined);
}

describe('a request of a tool for a caller with an API key', () => {
  const OWN = ['me', 'mail'];
  const FILES = ['get', 'read', 'list', 'upload', 'upload_parts'];

  it('reaches all that the caller may reach, for a key that is not bound', async () => {
    expect(await reached(await keyFor())).toEqual(['plain', ...OWN, ...FILES]);
  });

  it.each([
    ['nothing more for a key of tools only', () => ['/tools'], []],
    ['nothing more for a key of that tool only', () => ['/api/v1/tools/id/keyed/call'], []],
    ['files for a key of files', () => ['/tools', '/api/files'], FILES],
    ['one file for a key of that file', () => ['/tools', `/files/${file}`], ['get', 'read']],
    ['no bytes for a key of another file', () => ['/tools', '/files/other'], []],
    ['the session for a key of the sign-in endpoints', () => ['/tools', '/auths'], OWN],
    ['the own account for a key of that account', () => ['/tools', `/users/${shop.reader.id}`], OWN],
    ['everything for a key of the whole API', () => ['/api'], [...OWN, ...FILES]],
  ])('reaches %s', async (_what, endpoints, expected) => {
    const paths = endpoints().map((path) => (path.startsWith('/api') ? path : `/api${path}`));
    expect(await reached(await keyFor(paths))).toEqual(['plain', ...expected]);
  });

  it('is bound by the configuration as well', async () => {
    const key = await keyFor();
    await restrict(true, '/api/tools,/api/v1/auths');
    expect(await reached(key)).toEqual(['plain', ...OWN]);
    await restrict(false);
    expect(await reached(key)).toHaveLength(8);
  });

  it('reads no other account for a key of an administrator that is bound to other paths', async () => {
    const other = { id: shop.author.id };
    const bound = await keyFor(['/api/tools', '/api/auths'], shop.admin);
    const wide = await keyFor(['/api/tools', '/api/users'], shop.admin);
    expect((await call(bound, 'me')).body.result).toBe('Admin');
    for (const [name, args] of [
      ['other', other],
      ['other_mail', { email: 'author@example.com' }],
    ] as const) {
      expect((await call(bound, name, args)).status).toBe(422);
      expect((await call(wide, name, args)).body.result).toBe('Author');
    }
  });

  it('requires that the key is valid at that moment', async () => {
    const wrong = await call('sk-nothing', 'plain');
    expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthenticated']);
    expect((await call(await keyFor(['/api/files']), 'plain')).status).toBe(403);
  });
});
