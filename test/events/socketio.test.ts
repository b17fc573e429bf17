import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ChannelBrief } from '../../src/channelbase/channels.brief.schema.ts';
import { grant } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { signUpAll, signUpAs, startServer } from '../support/server.ts';
import { openDoor } from './door.ts';
import { type Event, listenBySocket, messageOf, type SocketListener, type SocketOptions } from './listen.ts';

let channelId: string;
const listeners: SocketListener[] = [];

const server = await startServer();
afterAll(() => server.close());
const [owner, writer] = await signUpAll(server, 'Owner', 'Writer');
beforeEach(async () => {
  const body = { name: 'general', access_grants: [grant(writer.id, 'write')], meta: { m: 1 } };
  channelId = (await server.call('POST /channels/create', { token: owner.token, body })).body.id;
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

async function listen(token: string | undefined, options: SocketOptions = {}, url = server.url) {
  const listener = await listenBySocket(url, token, options);
  listeners.push(listener);
  return listener;
}
const call = async (request: string, body?: unknown) =>
  (await server.call(request, { token: writer.token, body })).body;
const post = (body: Record<string, unknown>) => call(`POST /channels/${channelId}/messages/post`, body);
const ofChannel = (events: Event[]) => events.filter(({ channel_id }) => channel_id === channelId);

describe.each(['websocket', 'polling'] as const)('over %s', (transport) => {
  it('each change arrives in order, with a number and the payload of the REST view', async () => {
    const listener = await listen(owner.token, { transport });
    const { temp_id, ...root } = await post({ content: 'root', temp_id: 'mine' });
    const edited = await call(`POST /channels/${channelId}/messages/${root.id}/update`, {
      content: 'edited',
    });
    const { temp_id: _, ...reply } = await post({ content: 'reply', parent_id: root.id });
    const counted = await call(`GET /channels/${channelId}/messages/${root.id}`);
    await call(`DELETE /channels/${channelId}/messages/${reply.id}/delete`);
    await until('all events', () => listener.enveloped.length === 6 && listener.named.length === 6);

    const events = listener.enveloped;
    expect(events.map(({ event_id }) => event_id)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(events.map(({ data, message_id }) => [data.type, message_id])).toEqual([
      ['message', root.id],
      ['message:update', root.id],
      ['message', reply.id],
      ['message:reply', root.id],
      ['message:delete', reply.id],
      ['message:reply', root.id],
    ]);
    expect(events[0]?.data.data).toEqual({ ...root, temp_id });
    expect(events[1]?.data.data).toEqual(edited);
    expect(events[2]?.data.data).toEqual({ ...reply, temp_id: null });
    expect(events[3]?.data.data).toEqual(counted);
    expect(events[4]?.data.data).toMatchObject({ id: reply.id, content: '', meta: { deleted: true } });
    expect(listener.named).toEqual(events.map((event) => ({ name: event.data.type, event })));

    const shown = await call(`GET /channels/${channelId}`);
    const { access_grants, write_access, is_manager, last_message_at } = shown;
    const brief = ChannelBrief.parse(shown);
    expect([access_grants.length, write_access, is_manager]).toEqual([1, true, false]);
    expect(last_message_at).toBe(reply.created_at);
    for (const event of events) {
      expect(event).toMatchObject({
        channel_id: channelId,
        user: { id: writer.id, name: 'Writer', role: 'user' },
      });
      expect(event.channel).toEqual(brief);
    }
    expect(events[0]?.created_at).toBe(root.created_at);
  });

  it('a message posted right after the connection arrives', async () => {
    for (let round = 0; round < 10; round += 1) {
      const listener = await listen(owner.token, { transport });
      await post({ content: `${round}` });
      await until('the event', () => ofChannel(listener.enveloped).length > 0);
      expect(ofChannel(listener.enveloped).map((event) => messageOf(event).content)).toEqual([`${round}`]);
      listener.close();
    }
  });

  it('a packet sent right after the connection is heard, though the token is verified again', async () => {
    const member = await signUpAs(server, owner, `Quick${transport}`, 'user');
    // No process caches the token of a person of whom a credential has just ended.
    await server.as(member)('DELETE /auths/api_key');
    const beat = async () => {
      const { socket } = await listen(member.token, { transport });
      await socket.timeout(10_000).emitWithAck('heartbeat', {});
    };
    await Promise.all(Array.from({ length: 10 }, beat));
  });

  it('a wrong token is refused at once with the reason', async () => {
    const { refusal, socket } = await listen('not-a-token', { transport });
    expect(refusal).toEqual({ detail: expect.any(String), code: 'unauthenticated' });
    expect(socket.connected).toBe(false);
  });
});

it('the response to an upgrade has the headers of every response', async () => {
  const socket = new WebSocket(
    `${server.url.replace('http', 'ws')}/ws/socket.io/?EIO=4&transport=websocket`,
    {
      headers: { 'x-request-id': 'mine' },
    },
  );
  const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
  socket.close();
  expect(response.headers['x-request-id']).toBe('mine');
  expect(response.headers['x-process-time']).toMatch(/^\d+\.\d{6}$/);
});

describe('the names of events', () => {
  const HABITS: [string | undefined, enveloped: number, named: number][] = [
    ['envelope', 1, 0],
    ['named', 0, 1],
    ['both', 1, 1],
    [undefined, 1, 1],
    ['nonsense', 1, 1],
  ];
  it.each(HABITS)('follow auth.events %s', async (events, enveloped, named) => {
    const listener = await listen(owner.token, { auth: { events } });
    await post({ content: 'x' });
    await until('the event', () => listener.enveloped.length + listener.named.length === enveloped + named);
    expect([listener.enveloped.length, listener.named.length]).toEqual([enveloped, named]);
  });

  it.each<[string | undefined, number, number]>([
    [undefined, 1, 0],
    ['both', 1, 1],
    ['named', 0, 1],
  ])(
    'follow auth.events %s with user-join: clients without a choice get the envelope',
    async (events, ...counts) => {
      const listener = await listen(writer.token, { auth: { events } });
      // Before and after the join, since it leaves and joins rooms.
      await post({ content: 'x' });
      await until('the event', () => listener.enveloped.length + listener.named.length > 0);
      await listener.socket.emitWithAck('user-join', { auth: { token: writer.token } });
      listener.enveloped.length = 0;
      listener.named.length = 0;
      await post({ content: 'y' });
      await server.call(`POST /channels/${channelId}/update`, {
        token: owner.token,
        body: { name: 'renamed' },
      });
      await until(
        'the events',
        () => listener.enveloped.length + listener.named.length >= 2 * Math.max(...counts),
      );
      await listener.socket.emitWithAck('heartbeat', {});
      expect([listener.enveloped.length, listener.named.length]).toEqual(counts.map((count) => count * 2));
      const typing = { token: owner.token, body: { typing: true } };
      await server.call(`POST /channels/${channelId}/typing`, typing);
      const heard = () => [
        listener.notices.some(({ data }) => data.type === 'typing'),
        listener.namedNotices.some(({ name }) => name === 'typing'),
      ];
      await until('the notice', () => heard().includes(true));
      await listener.socket.emitWithAck('heartbeat', {});
      expect(heard()).toEqual(counts.map((count) => count > 0));
    },
  );
});

describe('without a token', () => {
  it('a socket that sends no credentials in time is closed, even without a join', async () => {
    const door = await openDoor(server, { proofMs: 50 });
    try {
      const listener = await listen(undefined, {}, door.url);
      await until('the end', () => listener.ended);
      expect(listener.socket.connected).toBe(false);

      const mute = new WebSocket(`${door.url.replace('http', 'ws')}/ws/socket.io/?EIO=4&transport=websocket`);
      await until('the end of the mute one', () => mute.readyState === WebSocket.CLOSED);
    } finally {
      await door.close();
    }
  });

  it.each(['user-join', 'join-channels'])('%s with a token admits the socket', async (name) => {
    const listener = await listen(undefined);
    await post({ content: 'not for you' });
    expect(await listener.socket.emitWithAck(name, { auth: { token: writer.token } })).toEqual({
      id: writer.id,
      name: 'Writer',
    });
    await post({ content: 'for you' });
    await until('the event', () => listener.enveloped.length > 0);
    expect(listener.enveloped.map((event) => messageOf(event).content)).toEqual(['for you']);
  });

  it('a wrong token in user-join closes the socket', async () => {
    const listener = await listen(undefined);
    listener.socket.emit('user-join', { auth: { token: 'not-a-token' } });
    await until('the end', () => listener.ended);
  });

  it.each([undefined, null, 5, 'x', [], {}, { auth: null }, { auth: { token: 5 } }])(
    'user-join with %j changes nothing',
    async (payload) => {
      const listener = await listen(undefined);
      expect(await listener.socket.emitWithAck('user-join', payload)).toBeUndefined();
      listener.socket.emit('user-join', payload);
      await post({ content: 'not for you' });
      expect(await listener.socket.emitWithAck('user-join', payload)).toBeUndefined();
      expect([listener.enveloped, listener.ended]).toEqual([[], undefined]);
    },
  );

  it('a later token of another user gives only the channels of that user', async () => {
    const other = await signUpAs(server, owner, `Other${channelId}`, 'user');
    const listener = await listen(writer.token);
    await listener.socket.emitWithAck('user-join', { auth: { token: other.token } });
    await post({ content: 'not for them' });
    const body = { name: 'theirs', access_grants: [grant(other.id, 'write')] };
    const { id } = (await server.call('POST /channels/create', { token: owner.token, body })).body;
    await server.call(`POST /channels/${id}/messages/post`, {
      token: other.token,
      body: { content: 'theirs' },
    });
    await until('the events', () => listener.enveloped.length > 1);
    expect(listener.enveloped.map(({ channel_id }) => channel_id)).toEqual([id, id]);
  });
});

describe('the content of a handshake', () => {
  it.each([
    { token: 5 },
    { events: { a: 1 } },
    { last_event_ids: 'x' },
    { last_event_ids: { nonsense: 1 } },
    { last_event_ids: { '018f0000-0000-7000-8000-000000000000': -1 } },
    { last_event_ids: { '018f0000-0000-7000-8000-000000000000': 5 } },
    { last_event_ids: null, events: null, extra: '\0' },
  ])('does no harm: %j', async (auth) => {
    const listener = await listen('token' in auth ? undefined : writer.token, { auth });
    if ('token' in auth) return expect(listener.ended).toBeUndefined();
    await post({ content: 'x' });
    await until('the event', () => listener.enveloped.length > 0);
  });
});

describe('last_event_ids', () => {
  it('bring the missed events, once and in order, and the following ones', async () => {
    for (const content of ['1', '2', '3']) await post({ content });
    const listener = await listen(writer.token, { auth: { last_event_ids: { [channelId]: 2 } } });
    await post({ content: '4' });
    await until('the events', () => ofChannel(listener.enveloped).length === 3);
    expect(listener.enveloped.map(({ event_id }) => event_id)).toEqual([3, 4, 5]);
    expect(listener.named.map(({ event }) => event.event_id)).toEqual([3, 4, 5]);
  });

  it('work beside an invalid one, and with the channel in upper case', async () => {
    for (const content of ['1', '2']) await post({ content });
    const last_event_ids = { nonsense: 1, [owner.id]: -1, [channelId.toUpperCase()]: 2 };
    const listener = await listen(writer.token, { auth: { last_event_ids } });
    await until('the event', () => ofChannel(listener.enveloped).length > 0);
    expect(listener.enveloped.map(({ event_id }) => event_id)).toEqual([3]);
  });

  it('of a channel that the caller may not read bring nothing', async () => {
    const hidden = (
      await server.call('POST /channels/create', { token: owner.token, body: { name: 'hidden' } })
    ).body.id;
    const options = { token: owner.token, body: { content: 'secret' } };
    await server.call(`POST /channels/${hidden}/messages/post`, options);
    // Names of rooms are not accepted as ids.
    const crafted = [
      hidden,
      hidden.toUpperCase(),
      `channel:${hidden}`,
      `channel:${hidden}:both`,
      `user:${owner.id}`,
    ];
    const last_event_ids = { ...Object.fromEntries(crafted.map((id) => [id, 0])), [channelId]: 1 };
    const listener = await listen(writer.token, { auth: { last_event_ids, events: `both:${hidden}` } });
    await server.call(`POST /channels/${hidden}/messages/post`, options);
    await post({ content: 'sentinel' });
    await until('the sentinel', () => listener.enveloped.length > 0);
    expect(listener.enveloped.map(({ channel_id }) => channel_id)).toEqual([channelId]);
  });

  it('bring events in the form of live ones, without contents of deleted messages', async () => {
    const live = await listen(writer.token);
    const root = await post({ content: 'root', data: { a: [1] }, temp_id: 't' });
    await post({ content: 'reply', parent_id: root.id, reply_to_id: root.id });
    await call(`DELETE /channels/${channelId}/messages/${root.id}/delete`);
    await until('the events', () => ofChannel(live.enveloped).length === 4);
    // Stored in the form of an earlier version.
    await server.database.query(
      `update channel_event set data = data #- '{data,files}' where channel_id = $1 and type = 'message'`,
      [channelId],
    );
    const door = await openDoor(server);
    try {
      const auth = { last_event_ids: { [channelId]: 1 } };
      const fromLog = await listen(writer.token, { auth }, door.url);
      await until('the replay', () => fromLog.enveloped.length === 4);
      const erased = { content: '', data: { files: [] }, meta: { deleted: true } };
      const expected = ofChannel(live.enveloped).map((event) => {
        const message = messageOf(event);
        const quoted = message.reply_to_message && { ...message.reply_to_message, ...erased };
        const own = message.id === root.id ? erased : {};
        return { ...event, data: { ...event.data, data: { ...message, reply_to_message: quoted, ...own } } };
      });
      // Exactly equal, with the members in the same order.
      const texts = (events: Event[]) => events.map((event) => JSON.stringify(event));
      expect(texts(fromLog.enveloped)).toEqual(texts(expected as Event[]));
    } finally {
      await door.close();
    }
  });

  it('lose and repeat nothing over many reconnects, while posts go on', async () => {
    const seen: number[] = [];
    let writing = true;
    const writers = [0, 1, 2].map(async (n) => {
      for (let count = 0; count < 60; count += 1) await post({ content: `${n}.${count}` });
    });
    const done = Promise.all(writers).then(() => {
      writing = false;
    });
    for (let round = 0; seen.length < 180; round += 1) {
      const auth = { last_event_ids: { [channelId]: seen.at(-1) ?? 1 }, events: 'envelope' };
      const listener = await listen(writer.token, {
        auth,
        transport: round % 3 === 2 ? 'polling' : 'websocket',
      });
      const wanted = seen.length + 1 + (round % 20);
      await until('some events', () => seen.length + listener.enveloped.length >= (writing ? wanted : 180));
      listener.close();
      seen.push(...listener.enveloped.map(({ event_id }) => event_id));
    }
    await done;
    expect(seen).toEqual(Array.from({ length: 180 }, (_, n) => n + 2));
  });
});
