import { afterAll, describe, expect, it } from 'vitest';
import { gather } from '../channels/people.ts';
import { grant, makeChannel } from '../support/channels.ts';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Answer, call, startServer } from '../support/server.ts';
import { GIF, JPEG, PNG, WEBP } from './pictures.ts';

const server = await startServer();
afterAll(() => server.close());

const people = await gather(server);
const shareChannel = () =>
  makeChannel(server, people.owner, grant(people.writer.id, 'write'), grant(people.reader.id, 'read'));
const channelId = await shareChannel();
const otherId = await shareChannel();

const manage = (request: string, body?: unknown): Promise<Answer> =>
  server.call(request, { token: people.owner.token, ...(body !== undefined && { body }) });
const create = async (form: object = { name: 'builds' }, channel = channelId) =>
  (await manage(`POST /channels/${channel}/webhooks/create`, form)).body;
const post = (id: string, token: string, body: unknown = { content: 'done' }) =>
  server.call(`POST /channels/webhooks/${id}/${token}`, { body });

describe('managing webhooks', () => {
  it('requires a manager of the channel', async () => {
    const { id } = await create();
    const calls: [string, object?][] = [
      [`GET /channels/${channelId}/webhooks`],
      [`POST /channels/${channelId}/webhooks/create`, { name: 'x' }],
      [`POST /channels/${channelId}/webhooks/${id}/update`, { name: 'x' }],
      [`DELETE /channels/${channelId}/webhooks/${id}/delete`],
    ];
    const expected = {
      signedOut: 401,
      revoked: 401,
      pending: 401,
      stranger: 403,
      public: 403,
      reader: 403,
      writer: 403,
    };
    for (const [request, body] of calls) {
      for (const [relation, status] of Object.entries(expected)) {
        const { token } = people[relation as keyof typeof expected];
        const answer = await server.call(request, { token, ...(body && { body }) });
        expect([relation, request, answer.status]).toEqual([relation, request, status]);
        expect(JSON.stringify(answer.body)).not.toContain('"token"');
      }
    }
    const { administrator } = people;
    const list = await server.call(`GET /channels/${channelId}/webhooks`, { token: administrator.token });
    expect(list.body.map((webhook: { id: string }) => webhook.id)).toContain(id);
  });

  it('shows administrators the webhooks of all channels, without their secrets', async () => {
    const { id, token } = await create({ name: 'listed' });
    const list = (as: { token: string }) => server.call('GET /webhooks', { token: as.token });
    const { body } = await list(people.administrator);
    expect(body.find((webhook: { id: string }) => webhook.id === id)).toMatchObject({
      name: 'listed',
      channel: { id: channelId, name: 'general', type: null },
      user: { id: people.owner.id },
    });
    expect(JSON.stringify(body)).not.toContain(token);
    expect((await list(people.writer)).status).toBe(403);
  });

  it('gives an address that stays, and seals its secret', async () => {
    const made = await create({ name: 'builds', profile_image_url: PNG });
    expect(made).toMatchObject({
      channel_id: channelId,
      user_id: people.owner.id,
      profile_image_url: PNG,
      last_used_at: null,
    });
    expect(made.token).toMatch(/^[\w-]{43}$/);
    const changed = await manage(`POST /channels/${channelId}/webhooks/${made.id}/update`, {
      name: 'deploys',
    });
    expect(changed.body).toMatchObject({
      id: made.id,
      name: 'deploys',
      token: made.token,
      profile_image_url: PNG,
    });
    const bare = await manage(`POST /channels/${channelId}/webhooks/${made.id}/update`, {
      name: 'deploys',
      profile_image_url: null,
    });
    expect(bare.body.profile_image_url).toBeNull();
    const list = await manage(`GET /channels/${channelId}/webhooks`);
    expect(list.body.at(-1)).toEqual(bare.body);
    const [row] = await server.database.query('select * from channel_webhook where id = $1', [made.id]);
    expect(JSON.stringify(row)).not.toContain(made.token);
  });

  it('cannot reach a webhook of another channel', async () => {
    const { id, token } = await create();
    for (const wrong of [
      `POST /channels/${otherId}/webhooks/${id}/update`,
      `DELETE /channels/${otherId}/webhooks/${id}/delete`,
    ]) {
      const answer = await manage(wrong, wrong.startsWith('POST') ? { name: 'taken' } : undefined);
      expect(answer.status).toBe(404);
    }
    expect((await post(id, token)).status).toBe(200);
  });

  it('deletes once; its messages stay, with a name that says so', async () => {
    const { id, token } = await create();
    const { message_id } = (await post(id, token)).body;
    const remove = () => manage(`DELETE /channels/${channelId}/webhooks/${id}/delete`);
    const answers = await Promise.all([remove(), remove()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect((await post(id, token)).status).toBe(401);
    const message = await manage(`GET /channels/${channelId}/messages/${message_id}`);
    expect(message.body.user).toEqual({ id, name: 'Deleted Webhook', role: 'webhook' });
  });

  it('refuses an invalid name and an invalid picture', async () => {
    const svg = `data:image/svg+xml;base64,${Buffer.from('<svg onload="alert(1)"/>').toString('base64')}`;
    const html = Buffer.from('<script>alert(1)</script>');
    const withTail = (uri: string) => {
      const [head = '', body = ''] = uri.split(',');
      return `${head},${Buffer.concat([Buffer.from(body, 'base64'), html]).toString('base64')}`;
    };
    const pictures = [
      'https://evil.example/track.png',
      'javascript:alert(1)',
      '/user.png',
      svg,
      `data:text/html;base64,${html.toString('base64')}`,
      `data:image/png;base64,${html.toString('base64')}`,
      PNG.replace('image/png', 'image/gif'),
      `${PNG}"><script>`,
      ...[PNG, GIF, JPEG, WEBP].map(withTail),
      `data:image/gif;base64,${Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(256 * 1024), Buffer.from(';')]).toString('base64')}`,
    ];
    for (const profile_image_url of [...pictures, 7, {}]) {
      const answer = await manage(`POST /channels/${channelId}/webhooks/create`, {
        name: 'x',
        profile_image_url,
      });
      expect([String(profile_image_url).slice(0, 40), answer.status]).toEqual([
        String(profile_image_url).slice(0, 40),
        400,
      ]);
      expect(answer.body.detail).toContain('profile_image_url');
    }
    for (const name of ['', ' ', 'x'.repeat(257), 'a\0b', 'a\nb', 'a\u202eb', 7, null, undefined]) {
      expect((await manage(`POST /channels/${channelId}/webhooks/create`, { name })).status).toBe(400);
    }
    expect((await manage(`GET /channels/nonsense/webhooks`)).status).toBe(404);
  });

  it('has a limit, also for concurrent requests', async () => {
    const full = await shareChannel();
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => manage(`POST /channels/${full}/webhooks/create`, { name: 'x' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(4);
  });
});

describe('posting by a webhook', () => {
  it('makes a message whose author is the webhook with its current name', async () => {
    const { id, token } = await create({ name: 'builds' });
    const answer = await post(id, token, {
      content: 'build 7 is green',
      parent_id: id,
      user_id: people.writer.id,
    });
    expect(answer.body).toEqual({ success: true, message_id: expect.any(String) });
    expect(answer.headers.get('x-ignored-members')).toContain('parent_id');
    await manage(`POST /channels/${channelId}/webhooks/${id}/update`, { name: 'deploys' });
    const message = await manage(`GET /channels/${channelId}/messages/${answer.body.message_id}`);
    expect(message.body).toMatchObject({
      content: 'build 7 is green',
      parent_id: null,
      user_id: people.owner.id,
      user: { id, name: 'deploys', role: 'webhook' },
      meta: { webhook: { id } },
    });
    const list = await manage(`GET /channels/${channelId}/webhooks`);
    const used = list.body.find((webhook: { id: string }) => webhook.id === id);
    expect(used.last_used_at).toBeGreaterThan(used.created_at);
  });

  it('stores no message before everything else that can fail', async () => {
    const { id, token } = await create();
    const content = `held up ${id}`;
    const count = async () =>
      (await server.database.query('select from message where content = $1', [content])).length;
    await withClient(server.database.url, async (client) => {
      await client.query('begin');
      await client.query('select from channel_webhook where id = $1 for update', [id]);
      const answer = post(id, token, { content });
      await until('the post to wait for the row of its webhook', async () => {
        const waiting = await server.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      expect(await count()).toBe(0);
      await client.query('rollback');
      expect((await answer).status).toBe(200);
    });
    expect(await count()).toBe(1);
  });

  it('answers the same for an unknown webhook and a wrong token', async () => {
    const { id, token } = await create();
    const unknown = '0190a000-0000-7000-8000-000000000000';
    const answers = [
      await post(unknown, token),
      await post(id, 'x'.repeat(43)),
      await post(id, token.slice(0, -1)),
      await post(id, `${token}x`),
      await post(id, (await create()).token),
    ];
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        401,
        { code: 'unauthenticated', detail: 'The address of the webhook is not valid.' },
      ]);
    }
  });

  it('accepts the content of a message only', async () => {
    const { id, token } = await create();
    for (const body of [
      {},
      { content: '' },
      { content: 7 },
      { content: null },
      { content: 'x'.repeat(65_537) },
      [],
    ]) {
      expect((await post(id, token, body)).status).toBe(400);
    }
    expect((await post(id, token, { content: 'x'.repeat(65_536) })).status).toBe(200);
    expect((await server.call(`GET /channels/webhooks/${id}/${token}`)).status).toBe(405);
  });

  it('is limited to sixty a minute for one webhook; others are not affected, and wrong tokens do not count', async () => {
    const { id, token } = await create();
    const other = await create();
    await Promise.all(Array.from({ length: 70 }, () => post(id, 'wrong')));
    const answers = await Promise.all(Array.from({ length: 65 }, () => post(id, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    const late = answers.find(({ status }) => status === 429);
    expect(Number(late?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(other.id, other.token)).status).toBe(200);
  });

  it('works after the account of its creator is deleted', async () => {
    const made = await server.call(`POST /channels/${channelId}/webhooks/create`, {
      token: people.administrator.token,
      body: { name: 'kept' },
    });
    await manage(`DELETE /users/${people.administrator.id}`);
    expect((await post(made.body.id, made.body.token)).status).toBe(200);
  });

  it('is refused while channels are off, and after the channel is deleted', async () => {
    const gone = await shareChannel();
    const { id, token } = await create({ name: 'x' }, gone);
    const { body: config } = await manage('GET /configs/export?secrets=true');
    await manage('POST /configs/import', { ...config, channels: { enable: false } });
    expect([(await post(id, token)).status, (await manage(`GET /channels/${gone}/webhooks`)).status]).toEqual(
      [403, 403],
    );
    await manage('POST /configs/import', config);
    await manage(`DELETE /channels/${gone}/delete`);
    expect((await post(id, token)).status).toBe(401);
  });
});

describe('the picture of a webhook', () => {
  const fetchPicture = (id: string, token?: string) =>
    fetch(`${server.url}/api/v1/channels/webhooks/${id}/profile/image`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      redirect: 'error',
    });

  it.each(Object.entries({ png: PNG, jpeg: JPEG, gif: GIF, webp: WEBP }))(
    'is served unchanged: %s',
    async (format, uri) => {
      const { id } = await create({ name: 'x', profile_image_url: uri }, await shareChannel());
      const answer = await fetchPicture(id, people.reader.token);
      expect(answer.headers.get('content-type')).toBe(`image/${format}`);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('content-security-policy')).toContain('sandbox');
      expect(answer.headers.get('content-disposition')).toContain('filename=');
      expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe(uri.split(',')[1]);
    },
  );

  it('is the common one when there is none, without access, and for any other id', async () => {
    const quiet = await shareChannel();
    const { id } = await create({ name: 'x', profile_image_url: PNG }, quiet);
    const bare = await create({ name: 'x' }, quiet);
    const cases: [string, string][] = [
      [id, people.stranger.token],
      [bare.id, people.reader.token],
      [channelId, people.reader.token],
      ['nonsense', people.reader.token],
    ];
    for (const [webhookId, token] of cases) {
      const answer = await fetchPicture(webhookId, token);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    }
    expect((await fetchPicture(id)).status).toBe(401);
    expect((await fetchPicture(id, people.pending.token)).status).toBe(401);
    expect((await call(server.url, `POST /channels/webhooks/${id}/profile/image`)).status).toBe(405);
  });
});
