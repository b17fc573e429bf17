import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { gather, RELATIONS, type Relation, setStage } from '../channels/people.ts';
import { type Grant, grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { type Person, signIn, signUpAs, startServer } from '../support/server.ts';
import { contentsOfEvents, type Event, listenBySocket, subscribe } from './listen.ts';

/*
 * Tests who receives what at both event doors, from the first moment and after each change of access, without
 * a reconnect.
 */

const server = await startServer();
afterAll(() => server.close());
const people = await gather(server);
/** All listeners read this channel: after its message, all earlier messages have arrived. */
const openId = await makeChannel(server, people.owner, grant('*', 'read'));

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function asOwner(request: string, body?: unknown) {
  const answer = await server.call(request, { token: people.owner.token, body });
  expect(answer.status).toBe(200);
  return answer.body;
}
const post = (channelId: string, content: string) =>
  asOwner(`POST /channels/${channelId}/messages/post`, { content });
const share = (channelId: string, ...access_grants: Grant[]) =>
  asOwner(`POST /channels/${channelId}/update`, { access_grants });
const createChannel = (...grants: Grant[]) => makeChannel(server, people.owner, ...grants);

interface Listening {
  heard(): Event[];
  /** How often it was told that rights may have changed. */
  toldOfRights(): number;
  /** The code of the refusal, or another sign that the connection has ended. */
  ended(): string | undefined;
}

const countOfRights = (notices: { data: { type: string } }[]) =>
  notices.filter(({ data }) => data.type === 'access:updated').length;

const DOORS: Record<string, (token: string) => Promise<Listening>> = {
  async 'Socket.IO'(token) {
    const listener = await listenBySocket(server.url, token || undefined);
    closers.push(listener.close);
    const toldOfRights = () => countOfRights(listener.notices);
    return {
      toldOfRights,
      heard: () => listener.enveloped,
      ended: () => listener.refusal?.code ?? listener.ended,
    };
  },
  async tRPC(token) {
    const subscription = await subscribe(server.url, token || undefined);
    closers.push(subscription.close);
    const toldOfRights = () => countOfRights(subscription.notices);
    return {
      toldOfRights,
      heard: () => subscription.items.map(({ event }) => event),
      ended: () => subscription.failure,
    };
  },
};

const contentOf = (listening: Listening) => contentsOfEvents(listening.heard());

/** Waits until a listener has received a message to all, and returns what it received before. */
async function contentsOf(listening: Listening): Promise<string[]> {
  const sentinel = `sentinel ${Math.random()}`;
  await post(openId, sentinel);
  await until('the sentinel', () => contentOf(listening).includes(sentinel));
  return contentOf(listening).filter((content) => !content.startsWith('sentinel'));
}

const REFUSED: Partial<Record<Relation, string>> = {
  pending: 'account_pending',
  revoked: 'unauthenticated',
  signedOut: 'unauthenticated',
};

describe.each(Object.keys(DOORS))('at the %s door', (door) => {
  const listen = (token: string) => DOORS[door]?.(token) as Promise<Listening>;

  it.each(RELATIONS)('%s receives exactly what it may read', async (relation) => {
    const { channelId } = await setStage(server, people, relation === 'public');
    // Socket.IO keeps a socket without credentials for ten seconds and sends it nothing: see
    // `socketio.test.ts`.
    if (door === 'Socket.IO' && relation === 'signedOut') return;
    const listening = await listen(people[relation].token);
    expect(listening.ended()).toBe(REFUSED[relation]);
    if (REFUSED[relation]) return;
    await post(channelId, 'private');
    const expected = relation === 'stranger' ? [] : ['private'];
    // A message of one channel may overtake another while a socket is admitted.
    await until('the expected messages', () => contentOf(listening).length >= expected.length);
    expect(await contentsOf(listening)).toEqual(expected);
  });

  it('a right that is granted, revoked and granted again starts, stops and resumes the events', async () => {
    const { stranger } = people;
    const id = await createChannel();
    const listening = await listen(stranger.token);
    const hears = (content: string) => until(content, () => contentOf(listening).includes(content));
    await post(id, 'before');
    await share(id, grant(stranger.id, 'read'));
    await post(id, 'with a grant');
    await hears('with a grant');
    await share(id);
    let probe = '';
    await until('the right to be gone', async () => {
      probe = `probe ${Math.random()}`;
      await post(id, probe);
      return !(await contentsOf(listening)).includes(probe);
    });
    await share(id, grant('*', 'read'));
    await post(id, 'public');
    await hears('public');
    const heard = await contentsOf(listening);
    expect(new Set(heard).size).toBe(heard.length);
    // An admitted user receives only later events, at both doors.
    expect(heard).not.toContain('before');
    expect(listening.ended()).toBeUndefined();
  });

  it('the loss of a channel is told to those who lost it', async () => {
    const { stranger, reader } = people;
    const id = await createChannel(grant(stranger.id, 'read'), grant(reader.id, 'read'));
    const [loses, keeps] = [await listen(stranger.token), await listen(reader.token)];
    await share(id, grant(reader.id, 'read'));
    await until('the notice', () => loses.toldOfRights() === 1);
    await contentsOf(keeps);
    expect(keeps.toldOfRights()).toBe(0);
  });

  it('a change of a group is told to its members, also where they can read as before', async () => {
    const { stranger, reader } = people;
    const { id } = await asOwner('POST /groups/create', {
      name: `writers ${Math.random()}`,
      description: '',
    });
    await asOwner(`POST /groups/id/${id}/users/add`, { user_ids: [stranger.id] });
    const [member, other] = [await listen(stranger.token), await listen(reader.token)];
    await asOwner(`POST /groups/id/${id}/users/remove`, { user_ids: [stranger.id] });
    await until('the notice', () => member.toldOfRights() === 1);
    await contentsOf(other);
    expect(other.toldOfRights()).toBe(0);
    await asOwner(`DELETE /groups/id/${id}/delete`);
  });

  it('a new channel delivers its events from the first message on', async () => {
    const listening = await listen(people.stranger.token);
    const expected = Array.from({ length: 10 }, (_, round) => `first ${round}`);
    for (const content of expected)
      await post(await createChannel(grant(people.stranger.id, 'read')), content);
    await until('all of them', () => contentOf(listening).length >= expected.length);
    expect(contentOf(listening).toSorted()).toEqual(expected);
  });

  it('a deleted channel ends, and another one goes on', async () => {
    const [gone, stays] = [await createChannel(grant('*', 'read')), await createChannel(grant('*', 'read'))];
    const listening = await listen(people.stranger.token);
    await post(gone, 'last');
    await asOwner(`DELETE /channels/${gone}/delete`);
    await post(stays, 'on');
    await until('the one that goes on', () => contentOf(listening).includes('on'));
    expect((await contentsOf(listening)).at(-1)).toBe('on');
    expect(listening.ended()).toBeUndefined();
  });

  it('disabling channels stops their events, and enabling resumes them', async () => {
    const config = await asOwner('GET /configs/export');
    const listening = await listen(people.reader.token);
    await post(openId, 'before');
    await asOwner('POST /configs/import', { ...config, channels: { enable: false } });
    await asOwner('POST /configs/import', config);
    await post(openId, 'after');
    expect(await contentsOf(listening)).toEqual(['before', 'after']);
    expect(listening.ended()).toBeUndefined();
  });

  it('revoking features.channels stops the events, and granting resumes them', async () => {
    const config = await asOwner('GET /configs/export');
    const permissions = { ...config.user.permissions, features: { channels: false } };
    const member = await listen(people.reader.token);
    const administrator = await listen(people.administrator.token);
    await asOwner('POST /configs/import', { ...config, user: { permissions } });
    await until('the member to hear no more', async () => {
      const probe = `probe ${Math.random()}`;
      await post(openId, probe);
      await until('the administrator to hear it', () => contentOf(administrator).includes(probe));
      return !contentOf(member).includes(probe);
    });
    await asOwner('POST /configs/import', config);
    await post(openId, 'for all');
    for (const listening of [member, administrator]) {
      await until('the last one to be heard', () => contentOf(listening).includes('for all'));
    }
    // A user with access again continues at the last received event.
    expect(contentOf(member)).toEqual(contentOf(administrator));
  });

  describe('a connection ends with', () => {
    const ENDS: Record<string, (person: Person) => Promise<unknown>> = {
      'a sign-out': ({ token }) => server.call('POST /auths/signout', { token }),
      'another password': ({ token }) =>
        server.call('POST /auths/update/password', {
          token,
          body: { password: 'correct horse battery', new_password: 'battery horse correct' },
        }),
      'another role': ({ id }) => asOwner(`POST /users/${id}/update`, { role: 'admin' }),
      'the account': ({ id }) => asOwner(`DELETE /users/${id}`),
    };
    it.each(Object.keys(ENDS))('%s', async (end) => {
      const person = await signUpAs(
        server,
        people.owner,
        `Leaver ${door} ${end}`.replaceAll(' ', '.'),
        'user',
      );
      const listening = await listen(person.token);
      const stays = await listen(people.reader.token);
      await ENDS[end]?.(person);
      await until('the end', () => listening.ended());
      await post(openId, 'afterwards');
      expect(await contentsOf(stays)).toEqual(['afterwards']);
      expect(listening.heard()).toEqual([]);
      expect(stays.ended()).toBeUndefined();
    });

    it('the lifetime of the token', async () => {
      const config = await asOwner('GET /configs/export');
      const listenFor = async (seconds: number): Promise<Listening> => {
        const auth = { ...config.auth, jwt_expiry: `${seconds}s` };
        await asOwner('POST /configs/import', { ...config, auth });
        const short = await signIn(server, people.reader);
        await asOwner('POST /configs/import', config);
        const listening = await listen(short.token);
        // On a slow machine the token may expire before the sockets are admitted.
        return listening.ended() && seconds < 60 ? listenFor(seconds * 5) : listening;
      };
      const listening = await listenFor(2);
      expect(listening.ended()).toBeUndefined();
      await until('the end', () => listening.ended());
    });

    it('one session; other sessions of the same person stay', async () => {
      const [one, other] = [await signIn(server, people.author), await signIn(server, people.author)];
      const [first, second] = [await listen(one.token), await listen(other.token)];
      await server.call('POST /auths/signout', { token: one.token });
      await until('the end', () => first.ended());
      expect(await contentsOf(second)).toEqual([]);
      expect(second.ended()).toBeUndefined();
    });
  });
});
