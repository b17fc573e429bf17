import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { administer } from '../configs/support.ts';
import { grant, makeChannel } from '../support/channels.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';

const database = await createDatabase();
const server = await startServer({ database });
const [root, ann, ben, cleo, dora] = await signUpAll(server, 'Root', 'Ann', 'Ben', 'Cleo', 'Dora');
const admin = administer(server, root);
afterAll(async () => {
  await server.close();
  await database.drop();
});

let channel: string;
beforeAll(async () => {
  channel = await makeChannel(server, root, grant('*', 'write'));
});

const limit = (limits: object) =>
  admin.configure((configuration) => Object.assign(configuration.limits ?? {}, limits));
const post = (person: Person, content = 'Hello') =>
  server.as(person)(`POST /channels/${channel}/messages/post`, { content });
async function upload(person: Person, bytes: number) {
  const form = new FormData();
  form.set('file', new Blob(['x'.repeat(bytes)]), 'x.txt');
  const headers = { authorization: `Bearer ${person.token}` };
  const response = await fetch(`${server.url}/api/v1/files/`, { method: 'POST', headers, body: form });
  return {
    status: response.status,
    body: (await response.json()) as { id: string; code: string; detail: string },
    headers: response.headers,
  };
}

describe('rate limits for one user', () => {
  it('limits.messages_per_minute applies to posts, edits and webhooks together, and to each user separately', async () => {
    const first = (await post(ann)).body;
    const webhook = (await server.as(root)(`POST /channels/${channel}/webhooks/create`, { name: 'Program' }))
      .body;
    await limit({ messages_per_minute: 2 });
    expect((await post(ann)).status).toBe(200);
    const edit = `POST /channels/${channel}/messages/${first.id}/update`;
    expect((await server.as(ann)(edit, { content: 'Edited' })).status).toBe(200);
    const refused = await post(ann);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await server.as(ann)(edit, { content: 'Again' })).status).toBe(429);
    expect((await post(ben)).status).toBe(200);
    const byWebhook = () =>
      server.call(`POST /channels/webhooks/${webhook.id}/${webhook.token}`, { body: { content: 'x' } });
    expect([(await byWebhook()).status, (await byWebhook()).status]).toEqual([200, 200]);
    expect((await byWebhook()).status).toBe(429);
  });

  it('limits.uploads_per_hour applies to uploads', async () => {
    await limit({ uploads_per_hour: 1 });
    expect([(await upload(ann, 1)).status, (await upload(ann, 1)).status]).toEqual([200, 429]);
  });

  it('limits.groups gives members of a group more, and the highest value applies', async () => {
    const { body: group } = await server.as(root)('POST /groups/create', {
      name: 'writers',
      description: '',
    });
    await limit({ messages_per_minute: 1, groups: { [group.id]: { messages_per_minute: 0 } } });
    expect((await post(ann)).status).toBe(429);
    await server.as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id] });
    expect((await post(ann)).status).toBe(200);
  });
});

it('limits.groups ends with the membership also for a user who goes on, when its notice was lost', async () => {
  const { body: group } = await server.as(root)('POST /groups/create', { name: 'fast', description: '' });
  await server.as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [cleo.id] });
  await limit({ messages_per_minute: 1, groups: { [group.id]: { messages_per_minute: 0 } } });
  const now = performance.now.bind(performance);
  let laterMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
  try {
    expect((await post(cleo)).status).toBe(200);
    await database.query(`delete from group_member where group_id = '${group.id}'`);
    laterMs = 6_000;
    expect((await post(cleo)).status).toBe(200);
    laterMs = 12_000;
    expect([(await post(cleo)).status, (await post(cleo)).status]).toEqual([200, 429]);
  } finally {
    clock.mockRestore();
    await limit({ messages_per_minute: 0, groups: {} });
  }
});

describe('limits.storage_bytes', () => {
  it('applies to files, messages and tools together; the error names the rest, and deleting makes room', async () => {
    await limit({ storage_bytes: 100_000 });
    const kept = await upload(ben, 60_000);
    expect(kept.status).toBe(200);
    const refused = await upload(ben, 50_000);
    expect([refused.status, refused.body.code]).toEqual([507, 'quota_exceeded']);
    expect(refused.body.detail).toMatch(/\d+ more bytes|\d+ are left/);
    expect((await post(ben, 'x'.repeat(60_000))).body.code).toBe('quota_exceeded');
    expect((await post(ben)).status).toBe(200);
    await server.as(ben)(`DELETE /files/${kept.body.id}`);
    await until('room', async () => (await post(ben, 'x'.repeat(60_000))).status === 200);
    expect((await upload(ann, 50_000)).status).toBe(200);
  });

  it('applies to the owner of a text file that an administrator edits', async () => {
    await limit({ storage_bytes: 200_000 });
    const { body } = await upload(dora, 1_000);
    const edit = (bytes: number) =>
      server.as(root)(`POST /files/${body.id}/data/content/update`, { content: 'x'.repeat(bytes) });
    expect((await upload(dora, 150_000)).status).toBe(200);
    const refused = await edit(60_000);
    expect([refused.status, refused.body.code]).toEqual([507, 'quota_exceeded']);
    expect((await edit(10_000)).status).toBe(200);
  });

  it('applies to the picture of a user, which counts once and may be sent again', async () => {
    await limit({ storage_bytes: 100_000 });
    const picture = (bytes: number) => {
      const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(bytes - 7), Buffer.from(';')]);
      return `data:image/gif;base64,${gif.toString('base64')}`;
    };
    const show = (bytes: number) =>
      server.as(cleo)('POST /auths/update/profile', { name: 'Cleo', profile_image_url: picture(bytes) });
    expect((await show(60_000)).status).toBe(200);
    expect((await show(60_000)).status).toBe(200);
    expect((await upload(cleo, 50_000)).status).toBe(507);
    expect((await upload(cleo, 10_000)).status).toBe(200);
    const refused = await show(90_000);
    expect([refused.status, refused.body.code]).toEqual([507, 'quota_exceeded']);
    const byAdministrator = await server.as(root)(`POST /users/${cleo.id}/update`, {
      role: 'user',
      name: 'Cleo',
      email: cleo.email,
      profile_image_url: picture(90_000),
    });
    expect([byAdministrator.status, byAdministrator.body.code]).toEqual([507, 'quota_exceeded']);
    expect((await server.as(cleo)('GET /auths/')).body.profile_image_url).toBe(picture(60_000));
  });
});

it('with less disk space than the reserve, storing is refused, and reading and deleting go on', async () => {
  await limit({});
  const { body: message } = await post(ann, 'while there was room');
  await server.close();
  const full = await startServer({ database, env: { STORAGE_RESERVE_MB: '999999999' } });
  try {
    const as = full.as(ann);
    for (const answer of [
      await as(`POST /channels/${channel}/messages/post`, { content: 'Hello' }),
      await as('POST /users/user/settings/update', { ui: { theme: 'dark' } }),
      await as('POST /files/', {}),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([507, 'storage_full']);
    }
    const rpc = await fetch(`${full.url}/trpc/messages.post`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ann.token}` },
      body: JSON.stringify({ id: channel, content: 'Hello' }),
    });
    expect(rpc.status).toBe(507);
    const ready = await (await fetch(`${full.url}/ready`)).json();
    expect(ready).toMatchObject({ parts: { database: { state: 'degraded' } } });
    expect((await as(`GET /channels/${channel}/messages`)).body[0].content).toBe('while there was room');
    const signedIn = await full.call('POST /auths/signin', {
      body: { email: ann.email, password: 'correct horse battery' },
    });
    expect(signedIn.status).toBe(200);
    const byProvider = await fetch(`${full.url}/oauth/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: 'x' }),
    });
    expect(await byProvider.json()).toMatchObject({ code: 'oauth_failed' });
    expect((await as(`DELETE /channels/${channel}/messages/${message.id}/delete`)).body).toBe(true);
  } finally {
    await full.close();
  }
});
