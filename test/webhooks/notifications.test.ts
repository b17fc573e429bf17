import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startTarget, type Target } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import type { Person } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';
import { type Answering, deliveriesOf, follow, hurry, setNotify, setStage, WEB_URL } from './stage.ts';

const undo: (() => unknown)[] = [];
let people = 0;

const stage = await setStage();
afterAll(() => stage.close());
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function target(answer?: Answering): Promise<Target> {
  const started = await startTarget(answer);
  undo.push(() => started.close());
  return started;
}

const person = (): Promise<Person> => {
  people += 1;
  return stage.person(`Person${people}`);
};
const bodies = ({ heard }: Target) => heard.map(({ body }) => JSON.parse(body));

describe('a new message', () => {
  it('notifies people who have opened the channel, with its text and its address under webui.url', async () => {
    const channelId = await stage.channel('news');
    const { url, heard } = await target();
    const reader = await person();
    await follow(stage, reader, `${url}/hook?key=secret`, channelId);
    const messageId = await stage.post(channelId, 'it <b>works</b>');
    const [delivery] = await deliveriesOf(stage, reader, ([one]) => one?.status === 'delivered');
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({ method: 'POST', url: '/hook?key=secret' });
    expect(heard[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-parley-delivery': delivery.id,
    });
    expect(JSON.parse(heard[0]?.body ?? '')).toEqual({
      action: 'channel',
      message: 'it <b>works</b>',
      title: 'news',
      url: `${WEB_URL}/channels/${channelId}`,
    });
    expect(delivery).toMatchObject({
      channel_id: channelId,
      message_id: messageId,
      url: `${url}/…`,
      attempts: 1,
      next_attempt_at: null,
      response_status: 200,
      error: null,
    });
    const [row] = await stage.server.database.query('select * from delivery where id = $1', [delivery.id]);
    expect(JSON.stringify(row)).not.toMatch(/secret|works/);
  });

  it('notifies no other people', async () => {
    const channelId = await stage.channel('quiet');
    const others = await target();
    const last = await target();
    const [never, mentions, none, connected, without, stranger, wanted] = await Promise.all(
      Array.from({ length: 7 }, person),
    );
    const all = [never, mentions, none, connected, without, stranger, wanted] as Person[];
    for (const one of all.slice(0, 6)) await follow(stage, one, `${others.url}/${one.id}`);
    for (const one of [connected, without, stranger] as Person[])
      await setNotify(stage, one, channelId, 'all');
    await setNotify(stage, mentions as Person, channelId, 'mentions');
    await setNotify(stage, none as Person, channelId, 'none');
    await stage.as(without as Person)('POST /users/user/settings/update', { ui: null });
    const socket = await listenBySocketIo(stage.server.url, (connected as Person).token);
    undo.push(() => socket.close());
    await follow(stage, wanted as Person, last.url, channelId);
    // The author gets no notification of their own message, and a demoted user gets none.
    await follow(stage, stage.root, `${others.url}/root`, channelId);
    await stage.as(stage.root)(`POST /users/${(stranger as Person).id}/update`, { role: 'pending' });
    await stage.post(channelId, 'for one');
    await until('the one', () => last.heard.length === 1);
    expect(others.heard).toEqual([]);
    const rows = await stage.server.database.query('select 1 from delivery where channel_id = $1', [
      channelId,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('notifies mentioned people also when they want nothing else, unless they want nothing at all', async () => {
    const channelId = await stage.channel('mentions');
    const { url, heard } = await target();
    const [never, mentions, none] = (await Promise.all([person(), person(), person()])) as [
      Person,
      Person,
      Person,
    ];
    for (const one of [never, mentions, none]) await follow(stage, one, `${url}/${one.id}`);
    await setNotify(stage, mentions, channelId, 'mentions');
    await setNotify(stage, none, channelId, 'none');
    await stage.post(channelId, [never, mentions, none].map(({ id }) => `<@U:${id}|you>`).join(' '));
    await until('both', () => heard.length === 2);
    expect(heard.map(({ url: path }) => path).toSorted()).toEqual(
      [`/${never.id}`, `/${mentions.id}`].toSorted(),
    );
  });

  it('notifies the other member of a direct channel', async () => {
    const { url, heard } = await target();
    const other = await person();
    await follow(stage, other, url);
    const dm = (
      await stage.as(stage.root)('POST /channels/create', { name: '', type: 'dm', user_ids: [other.id] })
    ).body;
    await setNotify(stage, other, dm.id, 'mentions');
    await stage.post(dm.id, 'psst');
    await until('the message', () => heard.length === 1);
    expect(JSON.parse(heard[0]?.body ?? '')).toMatchObject({ message: 'psst' });
  });

  it('notifies no one while ui.enable_user_webhooks is off, or when a program posts it', async () => {
    const channelId = await stage.channel('switch');
    const { url, heard } = await target();
    const reader = await person();
    await follow(stage, reader, url, channelId);
    const hook = (await stage.as(stage.root)(`POST /channels/${channelId}/webhooks/create`, { name: 'x' }))
      .body;
    await stage.server.call(`POST /channels/webhooks/${hook.id}/${hook.token}`, {
      body: { content: 'by a program' },
    });
    await stage.configure({ ui: { enable_user_webhooks: false } });
    await stage.post(channelId, 'while it is off');
    await stage.configure({ ui: { enable_user_webhooks: true } });
    await stage.post(channelId, 'while it is on');
    await deliveriesOf(stage, reader, ([one]) => one?.status === 'delivered');
    expect(bodies({ heard } as Target).map(({ message }) => message)).toEqual(['while it is on']);
  });
});

describe('a delivery', () => {
  const statuses = (...list: number[]): Answering => {
    let count = 0;
    return (_request, response) => {
      response.statusCode = list[Math.min(count, list.length - 1)] ?? 200;
      count += 1;
      if (response.statusCode === 429) response.setHeader('retry-after', '600');
      response.end('no');
    };
  };

  async function sendTo(answer: Answering): Promise<{ reader: Person; hook: Target; channelId: string }> {
    const channelId = await stage.channel('retries');
    const hook = await target(answer);
    const reader = await person();
    await follow(stage, reader, hook.url, channelId);
    await stage.post(channelId, 'hello');
    return { reader, hook, channelId };
  }

  it('is retried after temporary failures, later each time, five times at most', async () => {
    const { reader, hook } = await sendTo(statuses(500));
    const waits: number[] = [];
    for (let attempt = 1; attempt < 5; attempt += 1) {
      const [one] = await deliveriesOf(
        stage,
        reader,
        ([d]) => d?.attempts === attempt && d.response_status === 500,
      );
      expect(one).toMatchObject({ status: 'pending', error: 'It answered 500.' });
      waits.push(one.next_attempt_at - one.updated_at);
      await hurry(stage);
    }
    const [failed] = await deliveriesOf(stage, reader, ([d]) => d?.status === 'failed');
    expect(failed).toMatchObject({ attempts: 5, next_attempt_at: null });
    expect(hook.heard).toHaveLength(5);
    const bounds = [30, 120, 480, 1_920];
    for (const [n, bound] of bounds.entries()) {
      expect(waits[n]).toBeGreaterThanOrEqual(bound * 0.75);
      expect(waits[n]).toBeLessThanOrEqual(bound * 1.25 + 1);
    }
  });

  it('waits as long as the target asks', async () => {
    const { reader } = await sendTo(statuses(429, 204));
    const [one] = await deliveriesOf(stage, reader, ([d]) => d?.response_status === 429);
    expect(one.next_attempt_at - one.updated_at).toBe(600);
    await hurry(stage);
    await deliveriesOf(stage, reader, ([d]) => d?.status === 'delivered');
  });

  it.each([400, 401, 404, 410, 302])('is given up at once when the target answers %i', async (status) => {
    const { reader, hook } = await sendTo(statuses(status));
    const [one] = await deliveriesOf(stage, reader, ([d]) => d?.status === 'failed');
    expect(one).toMatchObject({ attempts: 1, response_status: status });
    expect(hook.heard).toHaveLength(1);
  });

  it('is not sent when the message was deleted or access was revoked meanwhile', async () => {
    const { reader, hook, channelId } = await sendTo(statuses(503));
    await deliveriesOf(stage, reader, ([d]) => d?.response_status === 503);
    await stage.as(stage.root)(`POST /channels/${channelId}/update`, { name: 'retries', access_grants: [] });
    await hurry(stage);
    const [one] = await deliveriesOf(stage, reader, ([d]) => d?.status === 'failed');
    expect(one.error).toContain('deleted');
    expect(hook.heard).toHaveLength(1);
  });

  it('can be sent again by its owner, one at a time', async () => {
    const { reader, hook } = await sendTo(statuses(404, 404, 200));
    const [failed] = await deliveriesOf(stage, reader, ([d]) => d?.status === 'failed');
    const path = `POST /users/user/deliveries/${failed.id}/redeliver`;
    expect((await stage.server.call(path)).status).toBe(401);
    expect((await stage.as(await person())(path)).status).toBe(404);
    expect((await stage.as(stage.root)(path)).status).toBe(404);
    const answers = await Promise.all([stage.as(reader)(path), stage.as(reader)(path)]);
    expect(answers.map(({ status }) => status).toSorted()[0]).toBe(200);
    await until('the requested delivery', () => hook.heard.length >= 2);
    await deliveriesOf(stage, reader, ([d]) => d?.status === 'failed' || d?.status === 'delivered');
    for (let n = 0; n < 40; n += 1) await stage.as(reader)('POST /users/user/deliveries/nonsense/redeliver');
    const many = await Promise.all(Array.from({ length: 40 }, () => stage.as(reader)(path)));
    expect(many.some(({ status }) => status === 429)).toBe(true);
  });
});

it('is listed to its owner only, page by page', async () => {
  const { url } = await target();
  const channelId = await stage.channel('pages');
  const reader = await person();
  await follow(stage, reader, url, channelId);
  for (const content of ['a', 'b', 'c']) await stage.post(channelId, content);
  const list = await deliveriesOf(
    stage,
    reader,
    (all) => all.length === 3 && all.every((d) => d.status === 'delivered'),
  );
  const second = await stage.as(reader)('GET /users/user/deliveries?skip=1&limit=1');
  expect(second.body).toEqual([list[1]]);
  expect((await stage.as(reader)('GET /users/user/deliveries?limit=201')).status).toBe(400);
  expect((await stage.as(await person())('GET /users/user/deliveries')).body).toEqual([]);
  expect((await stage.server.call('GET /users/user/deliveries')).status).toBe(401);
});
