import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChannelNoticeView } from '../../src/channelbase/channels.notices.schema.ts';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';
import { openDoor } from './door.ts';
import { listenBySocket, type SocketListener, type Subscription, subscribe } from './listen.ts';

/** Tests who receives notices at both doors, and that they do not change positions in the log. */

let channelId: string;
let closing: { close(): void }[];

const server = await startServer();
const [owner, reader, stranger] = await signUpAll(server, 'Owner', 'Reader', 'Stranger');
const door = await openDoor(server);
afterAll(async () => {
  await door.close();
  await server.close();
});
beforeEach(async () => {
  closing = [];
  channelId = await makeChannel(server, owner, grant(reader.id, 'read'));
});
afterEach(() => {
  for (const one of closing) one.close();
});

const post = async (content: string) =>
  (
    await server.call(`POST /channels/${channelId}/messages/post`, {
      token: owner.token,
      body: { content },
    })
  ).body.id as string;

function noticeOf(data: ChannelNoticeView['data'], in_ = channelId): ChannelNoticeView {
  return { channel_id: in_, message_id: null, data, user: { id: owner.id, name: 'Owner', role: 'admin' } };
}
const typing = (n = 0) => noticeOf({ type: 'typing', data: { typing: true, n } });

async function bySocket(person: Person, events: 'envelope' | 'named' | 'both' = 'both') {
  const listener = await listenBySocket(door.url, person.token, { auth: { events } });
  closing.push(listener);
  // When this is answered, the socket is in its rooms.
  await listener.socket.emitWithAck('user-join', { auth: { token: person.token } });
  return listener;
}
async function byTrpc(person: Person, options: { channel_ids?: string[]; lastEventId?: string } = {}) {
  const subscription = await subscribe(door.url, person.token, options);
  closing.push(subscription);
  return subscription;
}
const tell = (notice: ChannelNoticeView, userIds?: string[]) =>
  door.bus.publish('channel.notice', {
    to: userIds ? { userIds } : { channelId: notice.channel_id },
    notice,
  });
/** A notice to all arrives after everything that was sent before. */
async function settled(listeners: (SocketListener | Subscription)[]): Promise<void> {
  const end = noticeOf({ type: 'typing', data: { end: true } });
  tell(end, [owner.id, reader.id, stranger.id]);
  for (const { notices } of listeners)
    await until('the last notice', () => notices.some(({ data }) => 'end' in data.data));
}
const kept = ({ notices }: SocketListener | Subscription) =>
  notices.filter(({ data }) => !['presence', 'access:updated'].includes(data.type) && !('end' in data.data));

describe('a notice to a channel', () => {
  it('reaches only readers of it, in each form and at each door', async () => {
    const readers = [await bySocket(reader), await bySocket(owner, 'envelope')];
    const named = await bySocket(reader, 'named');
    const others = [await bySocket(stranger)];
    const subscriptions = [await byTrpc(reader), await byTrpc(owner, { channel_ids: [channelId] })];
    const elsewhere = await byTrpc(stranger);
    tell(typing());
    await settled([...readers, ...others, ...subscriptions, elsewhere]);
    for (const one of [...readers, ...subscriptions]) expect(kept(one)).toEqual([typing()]);
    for (const one of [...others, elsewhere]) expect(kept(one)).toEqual([]);
    const isEnd = ({ notice: { data } }: (typeof named.namedNotices)[number]) => 'end' in data.data;
    await until('the last one by its name', () => named.namedNotices.some(isEnd));
    expect(named.enveloped.length + named.notices.length).toBe(0);
    expect(named.namedNotices).toContainEqual({ name: 'typing', notice: typing() });
    // Under both names, once each.
    expect(readers[0]?.namedNotices.filter(({ notice: { data } }) => 'n' in data.data)).toHaveLength(1);
    expect(readers[1]?.namedNotices).toHaveLength(0);
  });

  it('arrives in order among the events, and moves no position', async () => {
    const subscription = await subscribe(server.url, reader.token, { channel_ids: [channelId] });
    closing.push(subscription);
    await post('one');
    await until('the event', () => subscription.items.length > 0);
    const cursor = subscription.items.at(-1)?.id;
    const other = await byTrpc(reader, { ...(cursor && { lastEventId: cursor }) });
    tell(typing(1));
    await until('the notice', () => other.notices.length === 1);
    other.tear();
    await post('two');
    await until('the missed event', () => other.items.length === 1);
    expect(other.starts).toBe(2);
    expect(other.items[0]?.event.data.data).toMatchObject({ content: 'two' });
  });

  it('about its deletion arrives before access is revoked', async () => {
    const [socket, subscription] = [await bySocket(reader), await byTrpc(reader)];
    const wanted = await byTrpc(reader, { channel_ids: [channelId] });
    const gone = noticeOf({ type: 'channel:deleted', data: {} });
    await server.call(`DELETE /channels/${channelId}/delete`, { token: owner.token });
    tell(gone);
    door.bus.publish('channel.access', { channelId, since: 0 });
    tell(typing());
    await settled([socket, subscription]);
    expect(kept(socket)).toContainEqual(gone);
    expect(kept(subscription)).toEqual([gone]);
    await until('the end', () => wanted.failure);
    expect([wanted.failure, kept(wanted)]).toEqual(['forbidden', [gone]]);
  });
});

describe('the deletion of a channel', () => {
  const countOf = ({ notices }: SocketListener | Subscription, type: string) =>
    notices.filter(({ data }) => data.type === type).length;

  /** A door at which the channel is deleted when a client is let in: once, before or after what was asked. */
  async function openDeleting(at: 'heads' | 'follow') {
    let isDue = true;
    const deleting = await openDoor(server);
    const original = deleting.hub[at].bind(deleting.hub) as (...args: unknown[]) => Promise<unknown>;
    const changed = async (...args: unknown[]) => {
      if (isDue) {
        isDue = false;
        await server.call(`DELETE /channels/${channelId}/delete`, { token: owner.token });
        const notice = noticeOf({ type: 'channel:deleted', data: {} });
        deleting.bus.publish('channel.notice', { to: { channelId }, notice });
        deleting.bus.publish('channel.access', { channelId, since: 0 });
      }
      return original(...args);
    };
    Object.assign(deleting.hub, { [at]: changed });
    closing.push({ close: () => void deleting.close() });
    return deleting;
  }

  it.each(['heads', 'follow'] as const)(
    'reaches a Socket.IO client that was let in and does not follow the channel yet (%s)',
    async (at) => {
      const { url } = await openDeleting(at);
      const listener = await listenBySocket(url, reader.token, { auth: { events: 'envelope' } });
      closing.push(listener);
      await until('the change of rights', () => countOf(listener, 'access:updated') > 0);
      expect(countOf(listener, 'channel:deleted')).toBe(1);
    },
  );

  it('reaches a subscription that has not started', async () => {
    const { url } = await openDeleting('follow');
    const subscription = await subscribe(url, reader.token);
    closing.push(subscription);
    await until('the change of rights', () => countOf(subscription, 'access:updated') > 0);
    expect(countOf(subscription, 'channel:deleted')).toBe(1);
  });
});

describe('a notice to users', () => {
  it('reaches all their connections and no others, with any channels', async () => {
    const theirs = [await bySocket(stranger), await bySocket(stranger, 'envelope'), await byTrpc(stranger)];
    const others = [await bySocket(reader), await byTrpc(reader)];
    const notice = noticeOf({ type: 'channel:member:remove', data: { user_ids: [stranger.id] } });
    tell(notice, [stranger.id]);
    await settled([...theirs, ...others]);
    for (const one of theirs) expect(kept(one)).toEqual([notice]);
    for (const one of others) expect(kept(one)).toEqual([]);
  });

  it('does not reach a subscription to other channels', async () => {
    const subscription = await byTrpc(reader, { channel_ids: [channelId] });
    const elsewhere = '018f0000-0000-7000-8000-000000000000';
    tell(noticeOf({ type: 'typing', data: {} }, elsewhere), [reader.id]);
    await settled([subscription]);
    expect(kept(subscription)).toEqual([]);
  });
});

describe('the right to a notice', () => {
  it('ends with read access to the channel', async () => {
    const [socket, subscription] = [await bySocket(reader), await byTrpc(reader)];
    await server.call(`POST /channels/${channelId}/update`, {
      token: owner.token,
      body: { access_grants: [] },
    });
    door.bus.publish('channel.access', { channelId, since: 0 });
    tell(typing(1));
    // When this is answered, the socket has checked its rights again; a subscription that has not yet must
    // not receive the notice either.
    await socket.socket.emitWithAck('user-join', { auth: { token: reader.token } });
    tell(typing(2));
    await settled([socket, subscription]);
    expect(kept(socket)).not.toContainEqual(typing(2));
    expect(kept(subscription)).toEqual([]);
  });
});
