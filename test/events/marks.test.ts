import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';
import { ENVELOPE, listenBySocket, type SocketListener, type Subscription, subscribe } from './listen.ts';

/** What a user reads at one client is sent to the other clients of that user, and to no other user. */

let channelId: string;
const open: { close(): void }[] = [];

const server = await startServer();
afterAll(() => server.close());
const [owner, reader] = await signUpAll(server, 'Owner', 'Reader');
beforeEach(async () => {
  channelId = await createChannel();
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

const createChannel = () => makeChannel(server, owner, grant(reader.id, 'read'));
const post = async (content: string): Promise<{ created_at: number }> =>
  (
    await server.call(`POST /channels/${channelId}/messages/post`, {
      token: owner.token,
      body: { content },
    })
  ).body;
async function mark(last_read_at?: number): Promise<number> {
  const answer = await server.call(`POST /channels/${channelId}/read`, {
    token: reader.token,
    body: { last_read_at },
  });
  expect(answer.status).toBe(200);
  return answer.body.last_read_at;
}
async function bySocketIo({ token }: Person, events: 'envelope' | 'named' = 'envelope') {
  const listener = await listenBySocket(server.url, token, { auth: { events } });
  open.push(listener);
  await listener.socket.emitWithAck('user-join', { auth: { token } });
  return listener;
}
async function byTrpc({ token }: Person, options: { channel_ids?: string[] } = {}) {
  const subscription = await subscribe(server.url, token, options);
  open.push(subscription);
  return subscription;
}
const marksOf = ({ notices }: SocketListener | Subscription) =>
  notices.filter(({ data }) => data.type === 'last_read_at');

/** All readers of the channel receive this after everything that was sent before. */
async function settled(...listeners: (SocketListener | Subscription)[]): Promise<void> {
  await server.call(`POST /channels/${channelId}/typing`, { token: owner.token, body: {} });
  for (const { notices } of listeners)
    await until('the last notice', () => notices.some(({ data }) => data.type === 'typing'));
}

describe('a read mark', () => {
  it('reaches all clients of the reader with the remaining count, and no other user', async () => {
    const named = await bySocketIo(reader, 'named');
    const theirs = [await bySocketIo(reader), await byTrpc(reader)];
    const others = [await bySocketIo(owner), await byTrpc(owner)];
    const first = await post('hello');
    await post(`<@U:${reader.id}|Reader>`);
    await mark(first.created_at);
    const all = await mark();
    await settled(...theirs, ...others);
    const notice = (last_read_at: number, left: number) => ({
      channel_id: channelId,
      message_id: null,
      data: { type: 'last_read_at', data: { last_read_at, unread_count: left, mention_count: left } },
      user: { id: reader.id, name: 'Reader', role: 'user' },
    });
    const told = [notice(first.created_at, 1), notice(all, 0)];
    for (const one of theirs) expect(marksOf(one)).toEqual(told);
    for (const one of others) expect(marksOf(one)).toEqual([]);
    await until('the last one by its name', () => named.namedNotices.some(({ name }) => name === 'typing'));
    const namedMarks = named.namedNotices.filter(({ name }) => name === 'last_read_at');
    expect(namedMarks.map(({ notice }) => notice)).toEqual(told);
    expect(named.notices).toEqual([]);
  });

  it('that changes nothing is not sent, however often it is set', async () => {
    const theirs = [await bySocketIo(reader), await byTrpc(reader)];
    await post('hello');
    const first = await mark();
    expect(await mark()).toBeGreaterThan(first);
    await mark();
    await settled(...theirs);
    for (const one of theirs) expect(marksOf(one)).toHaveLength(1);
  });

  it('that goes back is answered with the stored one', async () => {
    const listener = await byTrpc(reader);
    const [early, late] = [await post('1'), await post('2')];
    await mark(late.created_at);
    await post('3');
    expect(await mark(early.created_at)).toBe(late.created_at);
    await settled(listener);
    const data = { last_read_at: late.created_at, unread_count: 1 };
    expect(marksOf(listener).at(-1)).toMatchObject({ data: { data } });
  });

  it('may be set by a client at the Socket.IO door as well', async () => {
    const [from, phone] = [await bySocketIo(reader), await byTrpc(reader)];
    await post('hello');
    from.socket.emit(ENVELOPE, { channel_id: channelId, data: { type: 'last_read_at' } });
    await until('the mark', () => marksOf(phone).length > 0);
    expect(marksOf(phone)).toMatchObject([{ data: { data: { unread_count: 0, mention_count: 0 } } }]);
  });

  it('in another channel is not sent to a subscription to this one', async () => {
    const listener = await byTrpc(reader, { channel_ids: [channelId] });
    const here = channelId;
    channelId = await createChannel();
    await post('elsewhere');
    await mark();
    channelId = here;
    await settled(listener);
    expect(marksOf(listener)).toEqual([]);
  });

  it('that is refused is not sent', async () => {
    const listener = await byTrpc(reader);
    await post('hello');
    const refused = await server.call(`POST /channels/${channelId}/read`, {
      token: reader.token,
      body: { last_read_at: 'now' },
    });
    expect(refused.status).toBe(400);
    await settled(listener);
    expect(marksOf(listener)).toEqual([]);
  });

  it('is sent when a channel is hidden, except when it is hidden already', async () => {
    const body = { type: 'dm', user_ids: [owner.id] };
    channelId = (await server.as(reader)('POST /channels/create', body)).body.id;
    const listener = await byTrpc(reader);
    const { created_at } = await post('hello');
    const putAway = (is_active: boolean) =>
      server.as(reader)(`POST /channels/${channelId}/members/active`, { is_active });
    for (const isActive of [false, false, true]) expect((await putAway(isActive)).body).toBe(true);
    await settled(listener);
    expect(marksOf(listener)).toHaveLength(1);
    const { data } = marksOf(listener)[0]?.data ?? {};
    expect(data).toMatchObject({ unread_count: 0, mention_count: 0 });
    expect((data as { last_read_at: number }).last_read_at).toBeGreaterThanOrEqual(created_at);
  });
});

it('muting or unmuting a channel is sent to all clients of the same user, and to no other user', async () => {
  const theirs = [await bySocketIo(reader), await byTrpc(reader)];
  const other = await byTrpc(owner);
  const as = server.as(reader);
  await as(`POST /channels/${channelId}/members/mute`, { is_channel_muted: true });
  await as(`POST /channels/${channelId}/notify`, { level: 'all' });
  await as(`POST /channels/${channelId}/members/mute`, { is_channel_muted: 'yes' });
  await settled(...theirs, other);
  const mutes = ({ notices }: SocketListener | Subscription) =>
    notices.flatMap(({ data }) => (data.type === 'channel:mute' ? [data.data] : []));
  const told = [{ is_channel_muted: true }, { is_channel_muted: false }];
  for (const one of theirs) expect(mutes(one)).toEqual(told);
  expect(mutes(other)).toEqual([]);
});
