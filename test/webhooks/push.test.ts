import { afterAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { NOWHERE } from '../support/doors.ts';
import { until } from '../support/poll.ts';
import { type Person, signIn, signUp, startServer } from '../support/server.ts';
import { listenByTrpc } from '../support/sockets.ts';
import { claimsOf, egressToPush, openBrowser, startPushService } from './pushservice.ts';
import { setStage } from './stage.ts';

const CONTACT = 'mailto:it@example.com';
const service = await startPushService();
const egress = egressToPush();
const stage = await setStage({ egress, env: { WEB_PUSH_CONTACT: CONTACT, LOG_LEVEL: 'silent' } });
afterAll(async () => {
  await stage.close();
  await egress.close();
  await service.close();
});
const { as, root } = stage;
const channelId = await stage.channel('news');
const { public_key: publicKey } = (await as(root)('GET /users/user/push/key')).body;

/** Signs a person up, who opens the channel and subscribes a browser. */
async function subscribed(name: string) {
  const person = await stage.person(name);
  await as(person)(`POST /channels/${channelId}/read`, {});
  return { person, browser: await subscribe(person) };
}
async function subscribe(person: Person) {
  const browser = openBrowser(service);
  const answer = await as(person)('POST /users/user/push', browser.subscription);
  expect(answer).toMatchObject({ status: 200, body: { is_current: true, url: `${service.url}/…` } });
  return browser;
}
const list = async (person: Person) => (await as(person)('GET /users/user/push')).body;
const contentsOf = (browser: Parameters<typeof service.of>[0]) =>
  service.of(browser).map(({ content }) => content);

describe('a message', () => {
  it('is pushed to the browser of a person who is away, encrypted and signed', async () => {
    const { person, browser } = await subscribed('Ann');
    const words = 'x'.repeat(300);
    const messageId = await stage.post(channelId, `<@U:${person.id}|Ann> 👋 ${words}`);
    await until('the push', () => service.of(browser).length > 0);
    expect(service.of(browser)).toEqual([
      {
        type: 'message',
        channel_id: channelId,
        message_id: messageId,
        parent_id: null,
        channel_name: 'news',
        channel_type: null,
        author_name: 'Root',
        content: `@Ann 👋 ${words}`.slice(0, 201),
      },
    ]);
    const [push] = service.heard.filter(({ path }) => path === browser.path);
    expect(push?.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: '86400',
      topic: messageId.replaceAll('-', ''),
    });
    const claims = push && claimsOf(push, publicKey);
    expect(claims).toMatchObject({ aud: service.url, sub: CONTACT });
    expect(Number(claims?.exp) - Date.now() / 1000).toBeLessThanOrEqual(86_400);
    const [delivery] = (await as(person)('GET /users/user/deliveries')).body;
    expect(delivery).toMatchObject({ kind: 'push', url: `${service.url}/…`, message_id: messageId });
  });

  it('is not pushed to a person who is connected, who wrote it, or who wants mentions alone', async () => {
    const [here, quiet, other] = [
      await subscribed('Here'),
      await subscribed('Quiet'),
      await subscribed('Other'),
    ];
    const writer = await subscribe(root);
    await as(quiet.person)(`POST /channels/${channelId}/notify`, { level: 'mentions' });
    const socket = await listenByTrpc(stage.server.url, here.person.token);
    await stage.post(channelId, 'for some');
    await until('the push to the other', () => contentsOf(other.browser).length > 0);
    await stage.post(channelId, `<@U:${quiet.person.id}|Quiet> you`);
    await until('the push to the quiet one', () => contentsOf(quiet.browser).length > 0);
    expect(contentsOf(quiet.browser)).toEqual(['@Quiet you']);
    expect([contentsOf(here.browser), contentsOf(writer)]).toEqual([[], []]);
    socket.close();
  });
});

describe('a subscription', () => {
  it('ends when the push service says that the browser is gone', async () => {
    const { person, browser } = await subscribed('Gone');
    service.lose(browser);
    await stage.post(channelId, 'too late');
    await until('the subscription to end', async () => (await list(person)).length === 0);
    const failed = async () => (await as(person)('GET /users/user/deliveries?limit=1')).body[0];
    await until('the failure', async () => (await failed()).status === 'failed');
    expect(await failed()).toMatchObject({ kind: 'push', response_status: 410, attempts: 1 });
  });

  it('ends with its session, and moves to the next session of the browser', async () => {
    const { person, browser } = await subscribed('Moving');
    const again = await signIn(stage.server, person);
    expect(await list(again)).toMatchObject([{ is_current: false }]);
    expect((await as(again)('POST /users/user/push', browser.subscription)).body.is_current).toBe(true);
    expect(await list(person)).toMatchObject([{ is_current: false }]);
    await as(again)('POST /auths/signout');
    expect(await list(person)).toEqual([]);
  });

  it('is taken away by its owner alone', async () => {
    const { person } = await subscribed('Owner');
    const { person: stranger } = await subscribed('Stranger');
    const [{ id }] = await list(person);
    expect((await as(stranger)(`DELETE /users/user/push/${id}`)).status).toBe(404);
    expect((await as(person)(`DELETE /users/user/push/${NOWHERE}`)).status).toBe(404);
    expect((await as(person)(`DELETE /users/user/push/${id}`)).body).toBe(true);
    expect((await as(person)(`DELETE /users/user/push/${id}`)).status).toBe(404);
  });

  it('replaces the oldest of eleven', async () => {
    const { person } = await subscribed('Many');
    const [{ id: first }] = await list(person);
    await stage.server.database.query('update push_subscription set created_at = 0 where id = $1', [first]);
    for (let n = 0; n < 10; n += 1) await subscribe(person);
    const kept = (await list(person)).map(({ id }: { id: string }) => id);
    expect([kept.length, kept.includes(first)]).toEqual([10, false]);
  });

  it('is refused with an address that may not be called, or keys that are none', async () => {
    const { subscription } = openBrowser(service);
    const { keys } = subscription;
    const attempt = (change: object) => as(root)('POST /users/user/push', { ...subscription, ...change });
    for (const scheme of ['ftp', 'http']) {
      const { body } = await attempt({ endpoint: `${scheme}://push.example/x` });
      expect(body.code, scheme).toBe('address_refused');
    }
    const noPoint = { ...keys, p256dh: Buffer.alloc(65, 4).toString('base64url') };
    for (const wrong of [noPoint, { ...keys, p256dh: 'short' }, { ...keys, auth: 'short' }]) {
      expect((await attempt({ keys: wrong })).body.code).toBe('validation');
    }
  });
});

describe('web push', () => {
  it('is off unless the environment names a contact', async () => {
    const off = await setStage();
    const { features } = (await off.as(off.root)('GET /config')).body;
    expect(features.enable_web_push).toBe(false);
    expect((await off.as(off.root)('GET /users/user/push/key')).status).toBe(404);
    const { subscription } = openBrowser(service);
    expect((await off.as(off.root)('POST /users/user/push', subscription)).status).toBe(404);
    await off.close();
    expect((await as(root)('GET /config')).body.features.enable_web_push).toBe(true);
  });

  it('keeps its key over restarts and a new secret', async () => {
    const [older, newer] = ['o'.repeat(40), 'n'.repeat(40)];
    const database = await createDatabase();
    let person: Person | undefined;
    const keys = new Set<string>();
    for (const SECRET_KEY of [older, `${newer},${older}`, newer]) {
      const server = await startServer({ database, env: { SECRET_KEY, WEB_PUSH_CONTACT: CONTACT } });
      person = person ? await signIn(server, person) : await signUp(server, 'Root');
      keys.add((await server.as(person)('GET /users/user/push/key')).body.public_key);
      await server.close();
    }
    expect([...keys]).toEqual([expect.stringMatching(/^B[\w-]{86}$/)]);
    await database.drop();
  });

  it.each([
    ['WEB_PUSH_CONTACT', 'it@example.com'],
    ['WEB_PUSH_PRIVATE_KEY', 'short'],
    ['WEB_PUSH_PRIVATE_KEY', Buffer.alloc(32).toString('base64url')],
  ])('stops the start with a wrong %s', async (variable, value) => {
    const env = { WEB_PUSH_CONTACT: CONTACT, [variable]: value };
    await expect(startServer({ env })).rejects.toThrow(`${variable} is wrong`);
  });
});
