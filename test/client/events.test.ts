import { afterAll, afterEach, beforeEach, expect, expectTypeOf, test, vi } from 'vitest';
import { WebSocket as WsWebSocket } from 'ws';
import {
  type ChannelEvent,
  type ClientOptions,
  type ConnectionState,
  createClient,
  type EventsOptions,
  type Message,
  type ParleyClient,
  type ParleyError,
} from '../../client/src/index.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { freePort } from '../support/process.ts';
import { signIn, signUp, startServer } from '../support/server.ts';
import { type CuttableProxy, startProxy } from './proxy.ts';

let proxy: CuttableProxy;
const clients: ParleyClient[] = [];

const server = await startServer();
const ada = await signUp(server, 'Ada');
const author = createClient({ url: server.url, token: ada.token });
afterAll(async () => {
  await author.close();
  await server.close();
});
beforeEach(async () => {
  proxy = await startProxy(server.url);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await proxy.close();
});

function clientOf(options: Partial<ClientOptions>): ParleyClient {
  const client = createClient({ url: proxy.url, token: ada.token, ...options });
  clients.push(client);
  return client;
}

const makeChannel = async () => (await author.api.channels.create.mutate({ name: 'general' })).id;
const post = (id: string, content: string) => author.api.messages.post.mutate({ id, content });

/** A subscription that records everything that it receives. */
function record(client: ParleyClient, options: Partial<EventsOptions> = {}) {
  const events: ChannelEvent[] = [];
  const ids: string[] = [];
  const errors: ParleyError[] = [];
  const states: string[] = [];
  const subscription = client.events({
    onEvent: (event, id) => {
      events.push(event);
      ids.push(id);
    },
    onError: (error) => errors.push(error),
    onState: (state) => states.push(state),
    ...options,
  });
  const isLive = () => until('the subscription to be live', () => subscription.state === 'live');
  return { subscription, events, ids, errors, states, isLive };
}

const numbers = (events: ChannelEvent[]) => events.map(({ event_id }) => event_id);
/** The numbers of this many messages; event 1 is the creation of their channel. */
const messages = (count: number) => Array.from({ length: count }, (_, index) => index + 2);

test('delivers typed events of the requested channels only', async () => {
  const [general, other] = [await makeChannel(), await makeChannel()];
  const { subscription, events, states } = record(clientOf({}), { channelIds: [general] });
  await subscription.ready;
  await post(other, 'not for us');
  const message = await post(general, 'hello');
  const event = await until('the event', () => events[0]);
  expect(event).toMatchObject({ channel_id: general, event_id: 2, data: { type: 'message' } });
  expect(event.data.data).toMatchObject({ id: message.id, content: 'hello' });
  if (event.data.type === 'message') expectTypeOf(event.data.data).toExtend<Message>();
  expect(events).toHaveLength(1);
  expect(states).toEqual(['live']);
});

test.each([
  ['the WebSocket of the runtime', undefined],
  ['the package ws', WsWebSocket],
])('loses and repeats nothing while the network breaks, with %s', async (_name, WebSocket) => {
  const channel = await makeChannel();
  const { subscription, events, errors } = record(clientOf({ WebSocket }), { channelIds: [channel] });
  await subscription.ready;
  const total = 60;
  for (let sent = 1; sent <= total; sent += 1) {
    await post(channel, `message ${sent} ${'.'.repeat(500)}`);
    // Break before the first event, between events, and within one.
    if (sent % 10 === 1) proxy.cut();
    if (sent % 10 === 5) proxy.cutAfter(700);
    if (sent === 20) proxy.accepting = false;
    if (sent === 30) proxy.accepting = true;
    if (sent % 6 === 0) await until('some of it', () => !proxy.accepting || events.length >= sent - 5);
  }
  await until('all events', () => events.length >= total);
  expect(numbers(events)).toEqual(messages(total));
  expect(proxy.accepted).toBeGreaterThan(5);
  expect(errors).toEqual([]);
});

test('continues after the last event when a notice came after it', async () => {
  const channel = await makeChannel();
  const notices: string[] = [];
  const { events, states, isLive } = record(clientOf({}), {
    channelIds: [channel],
    onNotice: ({ data }) => notices.push(data.type),
  });
  await isLive();
  await post(channel, 'one');
  await until('the event', () => events.length === 1);
  await author.api.readers.mute.mutate({ id: channel, is_channel_muted: true });
  await until('the notice', () => notices.includes('channel:mute'));
  proxy.cut();
  await until('the loss to be noticed', () => states.includes('connecting'));
  await isLive();
  await post(channel, 'two');
  await until('the second event', () => events.some(({ event_id }) => event_id === 3));
  expect(numbers(events)).toEqual([2, 3]);
});

test("tRPC's own subscription loses no event when a notice came before the loss", async () => {
  const channel = await makeChannel();
  const client = clientOf({});
  const heard: number[] = [];
  const notices: string[] = [];
  const states: string[] = [];
  client.api.channels.events.subscribe(
    { channel_ids: [channel] },
    {
      onStarted: () => states.push('started'),
      onData: (item) => {
        if ('notice' in item) notices.push(item.notice.data.type);
        else if ('event_id' in item.data) heard.push(item.data.event_id);
      },
      onConnectionStateChange: ({ state }) => states.push(state),
    },
  );
  await until('the start', () => states.includes('started'));
  await post(channel, 'one');
  await until('the event', () => heard.length === 1);
  await author.api.readers.mute.mutate({ id: channel, is_channel_muted: true });
  await until('the notice', () => notices.includes('channel:mute'));
  proxy.cut();
  await post(channel, 'meanwhile');
  await post(channel, 'after');
  await until('the events', () => heard.includes(4));
  expect(heard).toEqual([2, 3, 4]);
});

test('continues after a restart of the server', async () => {
  const database = await createDatabase();
  const secret = { SECRET_KEY: 'a secret that both starts of the server share' };
  const env = { ...secret, PORT: `${await freePort()}` };
  const first = await startServer({ database, env });
  const session = await signUp(first, 'Grace');
  const client = clientOf({ url: first.url, token: session.token });
  const channel = (await client.api.channels.create.mutate({ name: 'general' })).id;
  const { events, errors, states, isLive } = record(client, { channelIds: [channel] });
  await isLive();
  await client.api.messages.post.mutate({ id: channel, content: 'before' });
  await until('the first event', () => events.length === 1);

  await first.close();
  await until('the loss to be noticed', () => states.includes('connecting'));
  const second = await startServer({ database, env });
  try {
    await client.api.messages.post.mutate({ id: channel, content: 'after' });
    await until('the second event', () => events.length === 2);
    expect(numbers(events)).toEqual([2, 3]);
    expect(errors).toEqual([]);
  } finally {
    await client.close();
    await second.close();
    await database.drop();
  }
});

test('starts while the server cannot be reached, and reports that', async () => {
  proxy.accepting = false;
  const channel = await makeChannel();
  const onState = vi.fn<NonNullable<EventsOptions['onState']>>();
  const { subscription, events } = record(clientOf({}), { channelIds: [channel], onState });
  await until('a failed try', () => onState.mock.calls.length > 0);
  expect(onState.mock.calls[0]).toMatchObject(['connecting', { status: 0, code: 'unreachable' }]);
  expect(subscription.lastEventId).toBeNull();
  proxy.accepting = true;
  await subscription.ready;
  await post(channel, 'hello');
  await until('the event', () => events.length === 1);
});

test('continues in another client where one stopped', async () => {
  const channel = await makeChannel();
  const first = record(clientOf({}), { channelIds: [channel] });
  await first.subscription.ready;
  await post(channel, 'one');
  await post(channel, 'two');
  await until('two events', () => first.events.length === 2);
  first.subscription.unsubscribe();
  expect(first.subscription.state).toBe('ended');
  await post(channel, 'three');

  const last = first.subscription.lastEventId;
  expect(last).toBe(first.ids[1]);
  const second = record(clientOf({}), { channelIds: [channel], lastEventId: last ?? '' });
  const again = record(clientOf({}), { channelIds: [channel], lastEventId: first.ids[0] ?? '' });
  await until('the rest', () => second.events.length === 1 && again.events.length === 2);
  expect(numbers(second.events)).toEqual([4]);
  expect(numbers(again.events)).toEqual([3, 4]);
  expect(first.events).toHaveLength(2);
});

test('ends the subscription with one error at the sign-out', async () => {
  const session = await signIn(server, ada);
  const client = clientOf({ token: session.token });
  const { subscription, errors, states, isLive } = record(client);
  await isLive();
  await client.api.auths.signOut.mutate();
  await until('the end', () => subscription.state === 'ended');
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect(states).toEqual(['live', 'ended']);
});

test('reports a refusal at the start by `ready` and `onError`', async () => {
  const nobody = record(clientOf({ token: 'wrong' }));
  await expect(nobody.subscription.ready).rejects.toMatchObject({ status: 401 });
  expect(nobody.errors).toHaveLength(1);

  const stranger = '01890000-0000-7000-8000-000000000000';
  const hidden = record(clientOf({}), { channelIds: [stranger] });
  await until('the end', () => hidden.subscription.state === 'ended');
  expect(hidden.errors).toMatchObject([{ status: 403, code: 'forbidden' }]);
});

test('continues with a renewed token after the old one ends', async () => {
  const channel = await makeChannel();
  let session = await signIn(server, ada);
  const client = clientOf({ token: () => Promise.resolve(session.token) });
  const { events, errors, isLive } = record(client, { channelIds: [channel] });
  await isLive();
  await post(channel, 'one');
  await until('the first event', () => events.length === 1);

  const old = session;
  session = await signIn(server, ada);
  await server.call('POST /auths/signout', { token: old.token });
  await post(channel, 'two');
  await until('the second event', () => events.length === 2);
  expect(numbers(events)).toEqual([2, 3]);
  expect(errors).toEqual([]);
});

test('moves the socket to another session at once with setToken', async () => {
  const channel = await makeChannel();
  const [old, next] = [await signIn(server, ada), await signIn(server, ada)];
  const client = clientOf({ token: old.token });
  const { events, errors, isLive } = record(client, { channelIds: [channel] });
  await isLive();
  const before = proxy.accepted;
  client.setToken(next.token);
  await until('another socket', () => proxy.accepted > before);
  await isLive();
  await server.call('POST /auths/signout', { token: old.token });
  await post(channel, 'hello');
  await until('the event', () => events.length === 1);
  expect(errors).toEqual([]);
});

test('shares one socket for all subscriptions of a client, and closes it after the last', async () => {
  const onConnection = vi.fn<(state: ConnectionState, error: ParleyError | null) => void>();
  const client = clientOf({ onConnection });
  const states = () => onConnection.mock.calls.map(([state]) => state);
  expect(states()).toEqual([]);
  const recorded = [record(client), record(client), record(client)];
  for (const { isLive } of recorded) await isLive();
  expect(states()).toEqual(['idle', 'connecting', 'open']);
  for (const { subscription } of recorded) subscription.unsubscribe();
  await until('an idle connection', () => states().at(-1) === 'idle');
  const { isLive } = record(client);
  await isLive();
});

test('ends subscriptions without an error on close', async () => {
  const client = clientOf({});
  const { subscription, errors, isLive } = record(client);
  await isLive();
  await client.close();
  expect(subscription.state).toBe('ended');
  expect(errors).toEqual([]);
  expect(() => client.events({ onEvent: () => {} })).toThrow(/closed/);
});

test('makes calls without a WebSocket, and names what events need', async () => {
  vi.stubGlobal('WebSocket', undefined);
  try {
    const client = clientOf({});
    expect((await client.api.auths.whoAmI.query()).id).toBe(ada.id);
    expect(() => client.events({ onEvent: () => {} })).toThrow(/no WebSocket.*"ws"/);
  } finally {
    vi.unstubAllGlobals();
  }
});
