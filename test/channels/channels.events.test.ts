import { afterAll, afterEach, expect, it } from 'vitest';
import { contentsOfEvents, listenBySocket, type SocketListener } from '../events/listen.ts';
import { grant } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, startServer } from '../support/server.ts';

const listeners: SocketListener[] = [];

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [admin, ann, ben] = await signUpAll(server, 'Admin', 'Ann', 'Ben');
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

async function listen({ token }: Person) {
  const listener = await listenBySocket(server.url, token, { auth: { events: 'envelope' } });
  listeners.push(listener);
  return listener;
}
/** Notices except those about presence, which may come at any time. */
/** The notices of channels. Notices of the person's rights come beside them. */
const noticesOf = ({ notices }: SocketListener) =>
  notices.filter(({ data }) => !['presence', 'access:updated'].includes(data.type));
const typesOf = ({ enveloped }: SocketListener) => enveloped.map(({ data }) => data.type);
const hears = (listener: SocketListener, content: string) =>
  until(content, () => contentsOfEvents(listener.enveloped).includes(content));

it('a new channel and its changes are sent to all members', async () => {
  const [annHears, benHears] = [await listen(ann), await listen(ben)];
  const create = { type: 'group', name: 'group', user_ids: [ben.id] };
  const { id } = (await as(ann)('POST /channels/create', create)).body;
  await as(ann)(`POST /channels/${id}/update`, { name: 'renamed' });
  await as(ann)(`POST /channels/${id}/messages/post`, { content: 'hello' });
  await hears(annHears, 'hello');
  await hears(benHears, 'hello');
  expect(typesOf(benHears)).toEqual(['channel:created', 'channel:updated', 'message']);
  expect(typesOf(annHears)).toEqual(typesOf(benHears));
  expect(benHears.enveloped.map(({ event_id }) => event_id)).toEqual([1, 2, 3]);
  expect(benHears.enveloped[1]).toMatchObject({
    message_id: null,
    user: { id: ann.id, name: 'Ann', role: 'user' },
    channel: { id, name: 'renamed', type: 'group' },
  });
  expect(benHears.enveloped[1]?.channel).not.toHaveProperty('access_grants');
});

it('a removed or leaving member receives that event and nothing after it; a new member receives what follows', async () => {
  const create = { type: 'group', name: 'group' };
  const { id } = (await as(ann)('POST /channels/create', create)).body;
  const [annHears, benHears] = [await listen(ann), await listen(ben)];
  const post = (content: string) => as(ann)(`POST /channels/${id}/messages/post`, { content });
  await post('before');
  for (const leave of [
    () => as(ann)(`POST /channels/${id}/update/members/remove`, { user_ids: [ben.id] }),
    () => as(ben)(`POST /channels/${id}/members/leave`),
  ]) {
    benHears.enveloped.length = 0;
    benHears.notices.length = 0;
    await as(ann)(`POST /channels/${id}/update/members/add`, { user_ids: [ben.id] });
    await post('with Ben');
    await hears(benHears, 'with Ben');
    // A member who comes back continues at the same position.
    expect(typesOf(benHears).slice(-2)).toEqual(['channel:member:add', 'message']);

    expect((await leave()).status).toBe(200);
    await until('the notice', () => noticesOf(benHears).length > 0);
    const told = { type: 'channel:member:remove', data: { user_ids: [ben.id] } };
    expect(noticesOf(benHears)).toMatchObject([{ channel_id: id, data: told, channel: { id } }]);
    benHears.enveloped.length = 0;
    await post('without Ben');
    await hears(annHears, 'without Ben');
    // Wait for a later event for Ben, so that nothing can still be on its way.
    const { id: own } = (await as(ben)(`GET /channels/users/${ben.id}`)).body;
    await as(ben)(`POST /channels/${own}/messages/post`, { content: 'alone' });
    await hears(benHears, 'alone');
    expect(contentsOfEvents(benHears.enveloped)).not.toContain('without Ben');
    annHears.enveloped.length = 0;
  }
});

it('a deletion is sent only to those who could read the channel', async () => {
  const body = { name: 'short-lived', access_grants: [grant(ben.id, 'read')] };
  const { id } = (await as(admin)('POST /channels/create', body)).body;
  const [annHears, benHears] = [await listen(ann), await listen(ben)];
  expect((await as(admin)(`DELETE /channels/${id}/delete`)).status).toBe(200);
  await until('the notice', () => noticesOf(benHears).length > 0);
  expect(noticesOf(benHears)).toMatchObject([
    {
      channel_id: id,
      message_id: null,
      data: { type: 'channel:deleted' },
      channel: { id, name: 'short-lived' },
    },
  ]);
  // Wait for a later event for Ann, so that nothing can still be on its way.
  const { id: own } = (await as(ann)(`GET /channels/users/${ann.id}`)).body;
  await as(ann)(`POST /channels/${own}/messages/post`, { content: 'alone' });
  await hears(annHears, 'alone');
  expect(noticesOf(annHears)).toEqual([]);
});

it('typing by writers is sent to readers and not stored', async () => {
  const access_grants = [grant(ann.id, 'write'), grant(ben.id, 'read')];
  const { id } = (await as(admin)('POST /channels/create', { name: 'x', access_grants })).body;
  const benHears = await listen(ben);
  const typing = (person: Person, more: object = {}) => as(person)(`POST /channels/${id}/typing`, more);
  expect((await typing(ben)).status).toBe(403);
  expect((await typing(ann, { typing: 'yes' })).status).toBe(400);
  expect((await typing(ann, { message_id: 'x' })).status).toBe(400);
  expect((await typing(ann)).body).toBe(true);
  await typing(ann, { typing: false });
  await until('both notices', () => noticesOf(benHears).length === 2);
  const user = { id: ann.id, name: 'Ann', role: 'user' };
  expect(noticesOf(benHears)).toEqual([
    { channel_id: id, message_id: null, data: { type: 'typing', data: { typing: true } }, user },
    { channel_id: id, message_id: null, data: { type: 'typing', data: { typing: false } }, user },
  ]);
  const log = await server.database.query('select type from channel_event where channel_id = $1', [id]);
  expect(log).toEqual([{ type: 'channel:created' }]);
});

it('typing is refused past twenty a second, and refused typing is not sent', async () => {
  const { id } = (await as(ann)('POST /channels/create', { type: 'group', name: 'flood' })).body;
  const annHears = await listen(ann);
  const flood = Array.from({ length: 200 }, () => as(ann)(`POST /channels/${id}/typing`));
  const answers = await Promise.all(flood);
  const done = answers.filter(({ status }) => status === 200).length;
  const refused = answers.filter(({ body }) => body.code === 'rate_limited');
  expect([done > 0, refused.length > 0, done + refused.length]).toEqual([true, true, 200]);
  expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
  await as(ann)(`POST /channels/${id}/messages/post`, { content: 'the end' });
  await hears(annHears, 'the end');
  expect(noticesOf(annHears)).toHaveLength(done);
});

it('readers of a channel see who is present', async () => {
  // A user who makes no calls, because the activity of callers is noted every half minute.
  const [cleo] = await server.database.query<{ id: string }>(
    `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
     values (gen_random_uuid(), 'cleo@example.com', 'Cleo', 'user', '', 0, 0, 0) returning id`,
  );
  const body = { type: 'group', name: 'group', user_ids: [cleo?.id] };
  const { id } = (await as(ann)('POST /channels/create', body)).body;
  expect((await as(ann)(`GET /channels/${id}/presence`)).body).toEqual([
    { user_id: ann.id, is_active: true },
  ]);
  const { users } = (await as(ann)(`GET /channels/${id}/members`)).body;
  expect(users.map(({ is_active }: { is_active: boolean }) => is_active)).toEqual([true, false]);
  expect((await as(admin)(`GET /channels/${id}/presence`)).status).toBe(403);
});
