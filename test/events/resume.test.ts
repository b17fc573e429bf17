import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { type Event, listenBySocket, messageOf, subscribe } from './listen.ts';

/*
 * With any writes and any lost connections, a reader in the end has seen the log of each channel that it may
 * read: in order, each event once, and nothing else.
 */

const CHANNELS = 5;
const READABLE = 4;

let channelIds: string[];

const server = await startServer();
afterAll(() => server.close());
const [owner, reader] = await signUpAll(server, 'Owner', 'Reader');

const call = async (request: string, body?: unknown) =>
  (await server.call(request, { token: owner.token, body })).body;

/** One step of a writer: the action, the channel, and the message that it concerns. */
const step = fc.record({
  does: fc.constantFrom('post', 'post', 'post', 'reply', 'edit', 'delete'),
  channel: fc.nat(CHANNELS - 1),
  target: fc.nat(1000),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function write(steps: Step[]): Promise<void> {
  const known: string[][] = channelIds.map(() => []);
  for (const [n, { does, channel, target }] of steps.entries()) {
    const path = `/channels/${channelIds[channel]}/messages`;
    const messages = known[channel] ?? [];
    const id = messages[target % (messages.length || 1)];
    if (does === 'post' || !id) {
      const { id: posted } = await call(`POST ${path}/post`, { content: `post ${n}` });
      messages.push(posted);
    } else if (does === 'reply') {
      const reply = await call(`POST ${path}/post`, { content: `reply ${n}`, parent_id: id });
      if (reply.id) messages.push(reply.id);
    } else if (does === 'edit') await call(`POST ${path}/${id}/update`, { content: `edit ${n}` });
    else await call(`DELETE ${path}/${id}/delete`);
  }
}

/** After how many events a reader loses its connection, again and again. */
const patience = fc.array(fc.nat(12), { minLength: 1, maxLength: 6 });

/** Reads until the test stops it, and then to the end of its channels. */
async function readByTrpc(
  cursor: string,
  losses: number[],
  isOver: () => Promise<number | undefined>,
): Promise<Event[]> {
  const seen: Event[] = [];
  let lastEventId = cursor;
  for (let round = 0; ; round += 1) {
    const subscription = await subscribe(server.url, reader.token, { lastEventId });
    const enough = losses[round % losses.length] ?? 0;
    const total = await until('events', async () => {
      const all = await isOver();
      if (all !== undefined && seen.length + subscription.items.length >= all) return { all };
      return all === undefined && subscription.items.length >= enough ? { all: undefined } : undefined;
    });
    subscription.close();
    for (const { id, event } of subscription.items) {
      seen.push(event);
      lastEventId = id;
    }
    if (total.all !== undefined) return seen;
  }
}

async function readBySocket(losses: number[], isOver: () => Promise<number | undefined>): Promise<Event[]> {
  const seen: Event[] = [];
  const last_event_ids = Object.fromEntries(channelIds.map((id) => [id, 1]));
  for (let round = 0; ; round += 1) {
    const auth = { events: 'envelope', last_event_ids };
    const listener = await listenBySocket(server.url, reader.token, { auth });
    const enough = losses[round % losses.length] ?? 0;
    const total = await until('events', async () => {
      const all = await isOver();
      if (all !== undefined && seen.length + listener.enveloped.length >= all) return { all };
      return all === undefined && listener.enveloped.length >= enough ? { all: undefined } : undefined;
    });
    listener.close();
    for (const event of listener.enveloped) {
      seen.push(event);
      last_event_ids[event.channel_id] = event.event_id;
    }
    if (total.all !== undefined) return seen;
  }
}

interface Told {
  channel_id: string;
  id: number;
  type: string;
  data: { id: string };
}

const numberAndType = ({ id, type }: Told) => [id, type];

/**
 * The state that a reader has after the events. The log forgets the earlier content of edited and deleted
 * messages, so the last state of each message counts; a quotation stays as the reader got it.
 */
const stateOf = (events: Told[]) =>
  Object.fromEntries(
    [...events]
      .sort((a, b) => a.id - b.id)
      .map(({ data, type }) => [data.id, { ...data, type, reply_to_message: null }]),
  );

describe('every reader ends with the log', () => {
  it('of all channels that it may read, in order, with each event once', { timeout: 600_000 }, async () => {
    const plan = fc.record({
      writers: fc.array(fc.array(step, { minLength: 10, maxLength: 40 }), { minLength: 3, maxLength: 3 }),
      patience: fc.tuple(patience, patience, patience),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ writers, patience: [one, two, three] }) => {
        channelIds = [];
        for (let n = 0; n < CHANNELS; n += 1) {
          const access_grants = n < READABLE ? [grant(reader.id, 'read')] : [];
          channelIds.push((await call('POST /channels/create', { name: `c${n}`, access_grants })).id);
        }
        const readable = channelIds.slice(0, READABLE);
        let written = false;
        /** The number of events to read when all is written. */
        const isOver = async () => {
          if (!written) return undefined;
          const [row] = await server.database.query<{ count: number }>(
            'select count(*)::int from channel_event where channel_id = any($1) and id > 1',
            [readable],
          );
          return row?.count;
        };
        const { cursor } = (await server.call('GET /channels/events/cursor', { token: reader.token })).body;
        const readers = Promise.all([
          readByTrpc(cursor, one, isOver),
          readByTrpc(cursor, two, isOver),
          readBySocket(three, isOver),
        ]);
        await Promise.all(writers.map(write));
        written = true;

        const log = await server.database.query<Told>(
          'select channel_id, id::int, type, data from channel_event where channel_id = any($1) and id > 1 order by id',
          [readable],
        );
        const perChannel = (events: Told[]) =>
          readable.map((id) => events.filter(({ channel_id }) => channel_id === id));
        const expected = perChannel(log);
        for (const seen of await readers) {
          const flat = seen.map((event) => ({
            channel_id: event.channel_id,
            id: event.event_id,
            type: event.data.type,
            data: messageOf(event),
          }));
          expect(flat).toHaveLength(log.length);
          expect(perChannel(flat).map((events) => events.map(numberAndType))).toEqual(
            expected.map((events) => events.map(numberAndType)),
          );
          expect(stateOf(flat)).toEqual(stateOf(log));
        }
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});
