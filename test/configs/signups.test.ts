import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { egressToHere, startTarget, type Target } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';
import { type Administration, administer } from './support.ts';

const egress = egressToHere();
let server: TestServer;
let root: Person;
let target: Target;
let admin: Administration;

beforeAll(async () => {
  target = await startTarget();
  server = await startServer({ egress, env: { LOG_LEVEL: 'silent' } });
  root = await signUp(server, 'Root');
  admin = administer(server, root);
});
afterAll(async () => {
  await server.close();
  await target.close();
  await egress.close();
});

const deliveries = () =>
  server.database.query<{ payload: Record<string, unknown>; url: string; user_id: string | null }>(
    'select payload, url, user_id from delivery order by created_at, id',
  );

describe('webhook_url', () => {
  it('sends nothing while it is empty', async () => {
    await signUp(server, 'Quiet');
    expect(await deliveries()).toEqual([]);
  });

  it('reports each sign-up, and no account that an administrator created', async () => {
    await admin.configure((configuration) => {
      configuration.webhook_url = `${target.url}/signups?token=secret`;
    });
    await server.call('POST /users', {
      token: root.token,
      body: { email: 'made@example.com', name: 'Made', password: 'a long password' },
    });
    const ann = await signUp(server, 'Ann');
    await until('the notice to arrive', () => target.heard.length > 0);
    expect(target.heard).toHaveLength(1);
    const [{ method = '', url = '', body = '' } = {}] = target.heard;
    expect([method, url]).toEqual(['POST', '/signups?token=secret']);
    const sent = JSON.parse(body);
    expect(sent).toEqual({
      action: 'signup',
      message: 'New user signed up: Ann',
      user: expect.any(String),
    });
    expect(JSON.parse(sent.user)).toMatchObject({ id: ann.id, email: ann.email, role: 'pending' });
    expect(sent.user).not.toMatch(/null|password|settings/);
    const [row] = await deliveries();
    expect(row?.user_id).toBeNull();
    expect(row?.url).not.toContain('target.example');
  });

  it('shows its deliveries to administrators, who can send them again', async () => {
    const [before] = (await server.as(root)('GET /deliveries?limit=1')).body;
    expect(before).toMatchObject({ user: null, url: `${target.url}/…`, message_id: null });
    const isDelivered = async () =>
      (await server.as(root)('GET /deliveries?status=delivered')).body.length > 0;
    await until('the delivery to be noted', isDelivered);
    const again = `POST /users/user/deliveries/${before.id}/redeliver`;
    expect(await server.as(root)(again)).toMatchObject({ status: 200, body: { status: 'pending' } });
    await until('the notice to arrive again', () => target.heard.length > 1);
    const ben = await signUpAs(server, root, 'Ben', 'user');
    await until('the notice of Ben', () => target.heard.length > 2);
    expect((await server.as(ben)(again)).status).toBe(404);
    expect((await server.as(ben)('GET /deliveries')).status).toBe(403);
  });

  it.each([
    ['https://hooks.slack.com/services/x', { text: 'New user signed up: &lt;!channel&gt;' }],
    [
      'https://discord.com/api/webhooks/x',
      { content: 'New user signed up: <!channel>', allowed_mentions: { parse: [] } },
    ],
    [
      'https://acme.webhook.office.com/x',
      { '@type': 'MessageCard', title: 'New user signed up: <!channel>' },
    ],
  ])('reports in the format of %s', async (webhook_url, payload) => {
    await admin.configure((configuration) => {
      configuration.webhook_url = webhook_url;
    });
    const before = (await deliveries()).length;
    const email = `${new URL(webhook_url).hostname}@example.com`;
    await server.call('POST /auths/signup', {
      body: { email, name: '<!channel>', password: 'a long password' },
    });
    await until('the notice to be stored', async () => (await deliveries()).length > before);
    expect((await deliveries()).at(-1)?.payload).toMatchObject(payload);
  });

  it('does not stop sign-ups when the report cannot be stored', async () => {
    await admin.configure((configuration) => {
      configuration.webhook_url = 'http://127.0.0.1:1/x';
    });
    await server.database.query('alter table delivery rename to gone');
    const { status } = await server.call('POST /auths/signup', {
      body: { email: 'still@example.com', name: 'Still', password: 'a long password' },
    });
    await server.database.query('alter table gone rename to delivery');
    expect(status).toBe(200);
  });
});
