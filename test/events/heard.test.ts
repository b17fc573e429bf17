import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { ENVELOPE, listenBySocket, type SocketListener } from './listen.ts';

/**
 * Tests what clients may send over Socket.IO: who may send it, who receives it, and that other messages have
 * no effect.
 */

let channelId: string;
const open: SocketListener[] = [];

const server = await startServer();
afterAll(() => server.close());
const [owner, writer, stranger] = await signUpAll(server, 'Owner', 'Writer', 'Stranger');
beforeEach(async () => {
  channelId = await makeChannel(server, owner, grant(writer.id, 'write'));
});
afterEach(() => {
  for (const listener of open.splice(0)) listener.close();
});

async function listen(person: Person): Promise<SocketListener> {
  const listener = await listenBySocket(server.url, person.token, { auth: { events: 'envelope' } });
  open.push(listener);
  await listener.socket.emitWithAck('user-join', { auth: { token: person.token } });
  return listener;
}
const tell = (
  listener: SocketListener,
  data: unknown,
  in_: unknown = channelId,
  message_id: unknown = null,
) => listener.socket.emit(ENVELOPE, { channel_id: in_, message_id, data });
const typingsOf = ({ notices }: SocketListener) => notices.filter(({ data }) => data.type === 'typing');
/** The server handles the packets of one socket in order, so all earlier packets have had their effect. */
const heard = (listener: SocketListener) => listener.socket.timeout(60_000).emitWithAck('heartbeat', {});

describe('typing', () => {
  it('reaches all readers of the channel, with person and place', async () => {
    const [from, other, outside] = [await listen(writer), await listen(owner), await listen(stranger)];
    const threadId = '018f0000-0000-7000-8000-000000000000';
    tell(from, { type: 'typing', data: { typing: true } });
    tell(from, { type: 'typing', data: { typing: false } }, channelId, threadId);
    await until('the notices', () => typingsOf(other).length === 2 && typingsOf(from).length === 2);
    expect(typingsOf(other)).toEqual([
      expect.objectContaining({
        channel_id: channelId,
        message_id: null,
        data: { type: 'typing', data: { typing: true } },
        user: { id: writer.id, name: 'Writer', role: 'user' },
      }),
      expect.objectContaining({ message_id: threadId, data: { type: 'typing', data: { typing: false } } }),
    ]);
    expect(typingsOf(outside)).toEqual([]);
  });

  it('is ignored from a person without write access, and after the access is revoked', async () => {
    const [from, other, outside] = [await listen(writer), await listen(owner), await listen(stranger)];
    tell(outside, { type: 'typing', data: { typing: true } });
    await heard(outside);
    await server.call(`POST /channels/${channelId}/update`, {
      token: owner.token,
      body: { access_grants: [] },
    });
    tell(from, { type: 'typing', data: { typing: true } });
    await heard(from);
    // Such notices are not stored for a socket while its rights are checked, so one may be lost.
    await until('the owner’s', () => {
      tell(other, { type: 'typing', data: { typing: true } });
      return typingsOf(other).length > 0;
    });
    expect(new Set(typingsOf(other).map(({ user }) => user.id))).toEqual(new Set([owner.id]));
  });

  it('is ignored when there is too much of it, and the socket stays', async () => {
    const [from, other] = [await listen(writer), await listen(owner)];
    for (let n = 0; n < 100; n += 1) tell(from, { type: 'typing', data: { typing: true } });
    let isAnswered = false;
    await until('an answer', () => {
      from.socket.emit('heartbeat', {}, () => {
        isAnswered = true;
      });
      return isAnswered;
    });
    await heard(other);
    expect(typingsOf(other).length).toBeGreaterThan(0);
    expect(typingsOf(other).length).toBeLessThan(50);
    expect(from.ended).toBeUndefined();
  });
});

describe('any other message', () => {
  const nowhere = '018f0000-0000-7000-8000-000000000000';
  it.each<[string, unknown[]]>([
    [ENVELOPE, []],
    [ENVELOPE, [null]],
    [ENVELOPE, ['text']],
    [ENVELOPE, [{ channel_id: nowhere, data: { type: 'typing', data: { typing: true } } }]],
    [ENVELOPE, [{ channel_id: ['x'], data: { type: 'typing' } }]],
    [ENVELOPE, [{ channel_id: "' or 1=1", data: { type: 'last_read_at' } }]],
    [ENVELOPE, [{ channel_id: nowhere, data: { type: 'message', data: { content: 'forged' } } }]],
    [ENVELOPE, [Buffer.from('binary')]],
    ['message', [{ content: 'forged' }]],
    ['usage', [{ model: 'x' }]],
    ['user-join', [{ auth: null }]],
    ['join-channels', [17]],
    ['__proto__', [{}]],
    ['constructor', []],
  ])('is ignored: %s %j', async (name, sent) => {
    const [from, other] = [await listen(writer), await listen(owner)];
    from.socket.emit(name, ...sent);
    await heard(from);
    await heard(other);
    expect(from.ended).toBeUndefined();
    expect([other.enveloped, typingsOf(other)]).toEqual([[], []]);
  });

  it('is not acknowledged', async () => {
    const from = await listen(stranger);
    const acknowledged: unknown[] = [];
    for (const payload of [{ channel_id: channelId, data: { type: 'typing' } }, 'nonsense'])
      from.socket.emit(ENVELOPE, payload, () => acknowledged.push(payload));
    await heard(from);
    expect(acknowledged).toEqual([]);
  });

  it('ends the connection when the session has ended', async () => {
    const short = await signUpAs(server, owner, 'Short', 'user');
    const from = await listen(short);
    await server.call('POST /auths/signout', { token: short.token });
    await until('the end', () => from.ended);
  });
});

describe('presence', () => {
  const isActive = ({ notices }: SocketListener, { id }: Person) =>
    notices
      .filter(({ data, user }) => data.type === 'presence' && user.id === id)
      .map(({ data }) => data.data);

  it('tells readers of a channel when a person comes, and some seconds after they leave', async () => {
    const guest = await signUpAs(server, owner, 'Guest', 'user');
    const access_grants = [grant(guest.id, 'read')];
    await server.call(`POST /channels/${channelId}/update`, { token: owner.token, body: { access_grants } });
    const other = await listen(owner);
    const first = await listen(guest);
    await until('the arrival', () => isActive(other, guest).length === 1);
    const second = await listen(guest);
    first.close();
    second.close();
    await until('the departure', () => isActive(other, guest).length === 2);
    expect(isActive(other, guest)).toEqual([{ is_active: true }, { is_active: false }]);
    expect(isActive(other, stranger)).toEqual([]);
  });
});
