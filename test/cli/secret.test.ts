import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { administer } from '../configs/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Person, signIn, signUp, type TestServer, withSecret } from '../support/server.ts';
import { run } from './run.ts';

const OLD = 'the secret that the database was written with';
const NEW = 'the secret that it goes on with when the old is lost';

let folder: string;
let database: TestDatabase;
let root: Person;
/** The addresses of the test's webhook: one to post to, one to list it. */
let hook: { list: string; post: string };

const command = (words: string[], secret: string, input = '') =>
  run(words, { SECRET_KEY: secret, DATABASE_URL: database.url, DATA_DIR: folder }, input);

const serve = <T>(secret: string, work: (at: TestServer) => Promise<T>) => withSecret(database, secret, work);

/** The stored key of the configuration, the address of the webhook, and the outcome of a post to it. */
const secretsAt = (secret: string) =>
  serve(secret, async (at) => {
    const person = await signIn(at, root);
    const { hosted_model_api } = await administer(at, person).exported('?secrets=true');
    const { status, body } = await at.as(person)(hook.list);
    const posted = await at.call(hook.post, { body: { content: 'x' } });
    return [hosted_model_api.api_keys, status, body[0].token !== '', posted.status];
  });
const contents = () => database.query('select data::text, revision, secret_mark from config');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
});
beforeEach(async () => {
  database = await createDatabase();
  await serve(OLD, async (at) => {
    root = await signUp(at, 'Root');
    await administer(at, root).configure(({ hosted_model_api }) => {
      Object.assign(hosted_model_api, {
        api_base_urls: ['https://one.example.com'],
        api_keys: ['sk-kept'],
      });
    });
    const as = at.as(root);
    const { body: channel } = await as('POST /channels/create', { name: 'hooks' });
    const { body } = await as(`POST /channels/${channel.id}/webhooks/create`, { name: 'hook' });
    hook = {
      list: `GET /channels/${channel.id}/webhooks`,
      post: `POST /channels/webhooks/${body.id}/${body.token}`,
    };
  });
  return () => database.drop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('every command refuses a database of another secret, and nothing changes', async () => {
  const before = await contents();
  const archive = join(folder, 'never.tar.gz');
  for (const words of [
    ['config', 'export'],
    ['config', 'import'],
    ['user', 'password', root.email],
  ]) {
    const outcome = await command(words, NEW, '{"config":{}}');
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('sealed with another SECRET_KEY');
  }
  expect(await command(['backup', archive], NEW)).toMatchObject({ code: 1, stdout: '' });
  await expect(access(archive)).rejects.toThrow('ENOENT');
  expect(await contents()).toEqual(before);
});

it('every command refuses a new secret before a server has started with it, since it could not read the results', async () => {
  const both = `${NEW},${OLD}`;
  const { code, stderr } = await command(['config', 'export'], both);
  expect([code, stderr]).toEqual([1, expect.stringContaining('Start the server with it once')]);
  await serve(both, async () => {});
  expect((await command(['config', 'export'], both)).code).toBe(0);
  expect((await command(['config', 'export'], NEW)).code).toBe(0);
});

it('secret accept continues without the old secret, deletes nothing, and accepts the old secret again later', async () => {
  expect(await secretsAt(OLD)).toEqual([['sk-kept'], 200, true, 200]);
  const { code, stdout } = await command(['secret', 'accept'], NEW);
  expect([code, stdout]).toEqual([
    0,
    // In the configuration, in its history, and in the address of the webhook.
    expect.stringMatching(/^This secret is in use now\. 3 stored secrets cannot be read with it/),
  ]);
  expect((await command(['secret', 'accept'], NEW)).stdout).toBe('This secret is the one in use.\n');
  expect(await secretsAt(NEW)).toEqual([[''], 200, false, 401]);
  await expect(secretsAt(OLD)).rejects.toThrow('another SECRET_KEY');
  expect(await secretsAt(`${NEW},${OLD}`)).toEqual([['sk-kept'], 200, true, 200]);
  expect(await secretsAt(NEW)).toEqual([['sk-kept'], 200, true, 200]);
  expect(
    await database.query(`select actor_id, after from audit_entry where action = 'secret.accept'`),
  ).toEqual([{ actor_id: null, after: { lost: 3 } }]);
});

it('secret accept is refused while a server runs', async () => {
  const before = await contents();
  await serve(OLD, async () => {
    const { code, stderr } = await command(['secret', 'accept'], NEW);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Another Parley process uses this database')]);
  });
  expect(await contents()).toEqual(before);
  expect((await command(['secret', 'accept', 'now'], NEW)).code).toBe(2);
});
