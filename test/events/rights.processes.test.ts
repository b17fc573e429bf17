import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { PASSWORD, type Person, signIn, signUp, signUpAs, type TestServer } from '../support/server.ts';
import { ENVELOPE, listenBySocket, type SocketListener, type Subscription, subscribe } from './listen.ts';

/*
 * A right that is revoked at one process disappears from the sockets of another: they end with their session,
 * or go on without what the user may no longer read or send.
 */
describe.skipIf(withoutRedis)('a socket at another process', () => {
  let pair: Pair;
  let here: TestServer;
  let there: TestServer;
  let root: Person;
  /** All listeners read it: after its message, all earlier messages have arrived. */
  let openId: string;
  let count = 0;

  beforeAll(async () => {
    pair = await startPair();
    ({ here, there } = pair);
    root = await signUp(here, 'Root');
    openId = await makeChannel(here, root, grant('*', 'read'));
  });
  afterAll(() => pair.close());

  const member = (role: 'user' | 'admin' = 'user') => {
    count += 1;
    return signUpAs(here, root, `Member${count}`, role);
  };
  async function insist({ token }: Person, request: string, body?: unknown) {
    const answer = await here.call(request, { token, body });
    expect([request, answer.status]).toEqual([request, 200]);
    return answer.body;
  }
  const asRoot = (request: string, body?: unknown) => insist(root, request, body);
  const post = (channelId: string, content: string) =>
    asRoot(`POST /channels/${channelId}/messages/post`, { content });

  interface Listening {
    socketIo: SocketListener;
    trpc: Subscription;
    close(): void;
  }
  async function listen({ token }: Person): Promise<Listening> {
    const socketIo = await listenBySocket(there.url, token, { auth: { events: 'envelope' } });
    await socketIo.socket.emitWithAck('user-join', { auth: { token } });
    const trpc = await subscribe(there.url, token);
    return { socketIo, trpc, close: () => [socketIo, trpc].map((one) => one.close()) };
  }
  const contentsOf = ({ socketIo, trpc }: Listening) =>
    [socketIo.enveloped, trpc.items.map(({ event }) => event)].map((events) =>
      events.map(({ data }) => ('content' in data.data ? data.data.content : '')),
    );
  async function bothHear(listening: Listening, content: string): Promise<void> {
    await until(content, () => contentsOf(listening).every((contents) => contents.includes(content)));
  }

  const ENDS: Record<string, (person: Person) => Promise<unknown>> = {
    'a sign-out': (person) => insist(person, 'POST /auths/signout'),
    'another password': (person) =>
      insist(person, 'POST /auths/update/password', {
        password: PASSWORD,
        new_password: 'another good one',
      }),
    'a password that an administrator sets': ({ id }) =>
      asRoot(`POST /users/${id}/update`, { password: 'another good one' }),
    'another role': ({ id }) => asRoot(`POST /users/${id}/update`, { role: 'admin' }),
    'approval that is taken back': ({ id }) => asRoot(`POST /users/${id}/update`, { role: 'pending' }),
    'the account': ({ id }) => asRoot(`DELETE /users/${id}`),
  };

  it.each(Object.entries(ENDS))('ends with %s, and cannot come back', async (end, act) => {
    const person = await member();
    const listening = await listen(person);
    await act(person);
    await until('both ends', () => listening.socketIo.ended && listening.trpc.failure);
    await post(openId, `after ${end}`);
    expect(contentsOf(listening).flat()).not.toContain(`after ${end}`);
    listening.close();
    const [again, subscription] = [
      await listenBySocket(there.url, person.token),
      await subscribe(there.url, person.token),
    ];
    expect([again.refusal?.code, subscription.failure]).toEqual(['unauthenticated', 'unauthenticated']);
    subscription.close();
  });

  it('of a demoted administrator loses what only administrators read, with the session and after it', async () => {
    const person = await member('admin');
    const hidden = await makeChannel(here, root);
    const listening = await listen(person);
    await post(hidden, 'for administrators');
    await bothHear(listening, 'for administrators');
    await asRoot(`POST /users/${person.id}/update`, { role: 'user' });
    await until('both ends', () => listening.socketIo.ended && listening.trpc.failure);
    listening.close();
    const again = await listen(await signIn(there, person));
    await post(hidden, 'not for them');
    await post(openId, 'for all');
    await bothHear(again, 'for all');
    expect(contentsOf(again).flat()).not.toContain('not for them');
    again.close();
  });

  /** Each entry gives a user a channel, and takes it away. */
  const RIGHTS: Record<string, (person: Person) => Promise<[id: string, take: () => Promise<unknown>]>> = {
    'a grant': async (person) => {
      const id = await makeChannel(here, root, grant(person.id, 'write'));
      return [id, () => asRoot(`POST /channels/${id}/update`, { access_grants: [] })];
    },
    'a right to write, but not to read': async (person) => {
      const id = await makeChannel(here, root, grant(person.id, 'write'));
      return [id, () => asRoot(`POST /channels/${id}/update`, { access_grants: [grant(person.id, 'read')] })];
    },
    'a membership': async (person) => {
      const body = { type: 'group', name: 'group', user_ids: [person.id] };
      const { id } = await asRoot('POST /channels/create', body);
      return [id, () => asRoot(`POST /channels/${id}/update/members/remove`, { user_ids: [person.id] })];
    },
    'a place in a user group': async (person) => {
      const staff = await asRoot('POST /groups/create', { name: `staff ${person.id}`, description: '' });
      await asRoot(`POST /groups/id/${staff.id}/users/add`, { user_ids: [person.id] });
      const id = await makeChannel(here, root, grant(staff.id, 'write', 'group'));
      return [id, () => asRoot(`POST /groups/id/${staff.id}/users/remove`, { user_ids: [person.id] })];
    },
    'the user group': async (person) => {
      const staff = await asRoot('POST /groups/create', { name: `gone ${person.id}`, description: '' });
      await asRoot(`POST /groups/id/${staff.id}/users/add`, { user_ids: [person.id] });
      const id = await makeChannel(here, root, grant(staff.id, 'write', 'group'));
      return [id, () => asRoot(`DELETE /groups/id/${staff.id}/delete`)];
    },
  };

  it.each(Object.entries(RIGHTS))('loses the access that it had by %s', async (right, give) => {
    const person = await member();
    const [id, take] = await give(person);
    const listening = await listen(person);
    const witness = await listen(root);
    await post(id, 'while they may');
    await bothHear(listening, 'while they may');
    const mayRead = right === 'a right to write, but not to read';
    await take();
    await post(id, 'when they may not');
    // Messages from the user are ignored now; when the later packet is answered, this one would have had its
    // effect.
    const { socket } = listening.socketIo;
    socket.emit(ENVELOPE, { channel_id: id, data: { type: 'typing', data: { typing: true } } });
    await socket.emitWithAck('heartbeat', {});
    await post(openId, `last word about ${right}`);
    await bothHear(listening, `last word about ${right}`);
    await bothHear(witness, `last word about ${right}`);
    // A message of one channel may overtake another whose readers are being checked.
    if (mayRead) await bothHear(listening, 'when they may not');
    else expect(contentsOf(listening).flat()).not.toContain('when they may not');
    const typed = [...witness.socketIo.notices, ...witness.trpc.notices].filter(
      ({ data, user }) => data.type === 'typing' && user.id === person.id,
    );
    expect(typed).toEqual([]);
    expect([listening.socketIo.ended, listening.trpc.failure]).toEqual([undefined, undefined]);
    listening.close();
    witness.close();
  });
});
