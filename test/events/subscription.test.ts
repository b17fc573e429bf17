import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatCursor, parseCursor, tagOf } from '../../src/events/cursor.ts';
import { type Grant, grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { contentsOfEvents, type SubscribeOptions, type Subscription, subscribe } from './listen.ts';

let channelId: string;
let hiddenId: string;
const subscriptions: Subscription[] = [];

const NOWHERE = '018f0000-0000-7000-8000-000000000000';
const TAG = tagOf(NOWHERE);

const server = await startServer();
afterAll(() => server.close());
const [owner, writer] = await signUpAll(server, 'Owner', 'Writer');
beforeEach(async () => {
  channelId = await createChannel(grant(writer.id, 'write'));
  hiddenId = await createChannel();
});
afterEach(() => {
  for (const subscription of subscriptions.splice(0)) subscription.close();
});

const createChannel = (...grants: Grant[]) => makeChannel(server, owner, ...grants);
const post = async (content: string, channel = channelId) =>
  (await server.call(`POST /channels/${channel}/messages/post`, { token: owner.token, body: { content } }))
    .body;
async function follow(options: SubscribeOptions = {}, { token } = writer) {
  const subscription = await subscribe(server.url, token, options);
  subscriptions.push(subscription);
  return subscription;
}
const contentsOf = ({ items }: Subscription) => contentsOfEvents(items.map(({ event }) => event));
const heard = (subscription: Subscription, ...contents: string[]) =>
  until(`${contents}`, () => contentsOf(subscription).length >= contents.length).then(() =>
    expect(contentsOf(subscription)).toEqual(contents),
  );
const cursorNow = async (person = writer): Promise<string> =>
  (await server.call('GET /channels/events/cursor', { token: person.token })).body.cursor;

describe('a subscription', () => {
  it('receives a message posted right after it started', async () => {
    for (let round = 0; round < 20; round += 1) {
      const subscription = await follow();
      await post(`${round}`);
      await heard(subscription, `${round}`);
    }
  });

  it('to one channel receives nothing of others', async () => {
    const other = await createChannel(grant(writer.id, 'read'));
    const subscription = await follow({ channel_ids: [channelId] });
    await post('elsewhere', other);
    await post('here');
    await heard(subscription, 'here');
  });

  it.each([
    ['a channel without access', () => [hiddenId]],
    ['channels of which one is without access', () => [channelId, hiddenId]],
    ['a missing channel', () => [NOWHERE]],
  ])('to %s is forbidden', async (_what, ids) => {
    expect((await follow({ channel_ids: ids() })).failure).toBe('forbidden');
  });

  it('to named channels ends when access to one of them is revoked', async () => {
    const subscription = await follow({ channel_ids: [channelId] });
    await post('before');
    await heard(subscription, 'before');
    await server.call(`POST /channels/${channelId}/update`, {
      token: owner.token,
      body: { access_grants: [] },
    });
    await until('the end', () => subscription.failure);
    expect(subscription.failure).toBe('forbidden');
    await heard(subscription, 'before');
  });

  it('accepts ids in either case', async () => {
    const subscription = await follow({ channel_ids: [channelId.toUpperCase()] });
    await post('x');
    await heard(subscription, 'x');
  });
});

describe('continuing', () => {
  it('after any event delivers exactly the following ones', async () => {
    const before = await follow();
    for (const content of ['1', '2', '3', '4']) await post(content);
    await heard(before, '1', '2', '3', '4');
    for (const [n, { id }] of [...before.items].entries()) {
      const subscription = await follow({ lastEventId: id });
      await post(`after ${n}`);
      const since = ['2', '3', '4', ...Array.from({ length: n + 1 }, (_, k) => `after ${k}`)].slice(n);
      await heard(subscription, ...since);
    }
  });

  it('from the current cursor misses and repeats nothing while posts go on', async () => {
    for (let round = 0; round < 10; round += 1) {
      channelId = await createChannel(grant(writer.id, 'write'));
      const posts = Array.from({ length: 20 }, (_, n) => post(`${n}`));
      await posts[round];
      const cursor = await cursorNow();
      const seen = parseCursor(cursor).positions.get(tagOf(channelId)) ?? 0;
      await Promise.all(posts);
      const subscription = await follow({ lastEventId: cursor });
      await post('end');
      await until('the end', () => contentsOf(subscription).includes('end'));
      const numbers = subscription.items.map(({ event }) => event.event_id);
      expect(numbers).toEqual(Array.from({ length: 22 - seen }, (_, n) => seen + 1 + n));
    }
  });

  it('after a lost socket is done by the client', async () => {
    const subscription = await follow();
    await post('1');
    await heard(subscription, '1');
    for (let n = 2; n < 8; n += 1) {
      subscription.tear();
      await post(`${n}`);
      await until('the event', () => contentsOf(subscription).includes(`${n}`));
    }
    expect(contentsOf(subscription)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect(subscription.starts).toBeGreaterThan(1);
  });

  it.each([
    'x',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '99999999999999999999',
    ';',
    '1;',
    `1;${TAG}`,
    `1;${TAG}:`,
    `1;${TAG}:-1`,
    `1;${TAG}:1:2`,
    `1;${TAG}:1e3`,
    '1;nonsense:1',
    `1;'--:1`,
    '\0',
    `1;${NOWHERE}:1`,
    `1${`;${TAG}:1`.repeat(80_000)}`,
  ])('from an invalid cursor is refused: %.40j', async (lastEventId) => {
    expect((await follow({ lastEventId })).failure).toBe('bad_request');
  });

  it('from a cursor in the future, or beyond the log, still delivers new events', async () => {
    await post('before');
    const future = `9007199254740991;${tagOf(channelId)}:999999999999999`;
    const subscription = await follow({ lastEventId: future });
    await post('after');
    await heard(subscription, 'after');
    // The client has events that the server does not have: a backup was restored.
    expect(subscription.reloads).toMatchObject([{ channel_id: channelId }]);
  });

  it('from a cursor with channels without access shows nothing of them', async () => {
    const secret = await post('secret', hiddenId);
    const cursor = formatCursor({
      momentMicros: 0,
      positions: new Map([
        [tagOf(hiddenId), 0],
        [tagOf(NOWHERE), 0],
      ]),
    });
    const subscription = await follow({ lastEventId: cursor });
    await post('mine');
    await until('the event', () => contentsOf(subscription).includes('mine'));
    const text = JSON.stringify(subscription.items.map(({ event }) => event));
    expect(text).not.toContain(secret.id);
    expect(text).not.toContain(hiddenId);
  });

  it('from a cursor with ten thousand channels keeps a few that it does not follow', async () => {
    const others = Array.from(
      { length: 10_000 },
      (_, n) => `${tagOf(NOWHERE).slice(5)}${`${n}`.padStart(5, '0')}:1`,
    );
    const subscription = await follow({ lastEventId: [await cursorNow(), ...others].join(';') });
    await post('x');
    await heard(subscription, 'x');
    const { positions } = parseCursor(subscription.items[0]?.id ?? '');
    expect(positions.get(tagOf(channelId))).toBe(2);
    expect(positions.size).toBeLessThan(200);
  });

  it('from the current cursor shows no channel without access', async () => {
    await post('secret', hiddenId);
    await post('mine');
    const positions = [...parseCursor(await cursorNow()).positions.keys()];
    expect(positions).toContain(tagOf(channelId));
    expect(positions).not.toContain(tagOf(hiddenId));
  });
});
