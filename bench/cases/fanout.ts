import pg from 'pg';
import { readEvents } from '../../src/channels/events.repository.ts';
import type { SocketLoad } from '../load/sockets.ts';
import { type Child, moveTo, startChild } from '../support/child.ts';
import { compare } from '../support/contenders.ts';
import { sqlOn } from '../support/database.ts';
import type { Parley } from '../support/parley.ts';
import type { Result } from '../support/report.ts';
import type { Contender } from '../support/rounds.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 1000;
/** One account may have a hundred connections. */
const READERS = SOCKETS / 100;

type Protocol = Pick<SocketLoad, 'people' | 'readyAt' | 'eventAt'>;
type Run = { operations: number; seconds: number };

/** What is spoken with a bare Socket.IO server, and with our door by a client that listens to `events:channel` only. */
const socketIo = (tokens: (string | null)[]): Protocol => ({
  people: tokens.map((token) => ({
    headers: {},
    hello: [`40${JSON.stringify(token === null ? {} : { token, events: 'envelope' })}`],
    replies: {
      // Engine.IO's ping and pong; the acknowledgement of the join says that the socket sits in its rooms.
      2: '3',
      ...(token !== null && { 40: `420["user-join",${JSON.stringify({ auth: { token } })}]` }),
    },
  })),
  readyAt: tokens[0] === null ? '40' : '430',
  eventAt: '42["events:channel"',
});

/** One message to 1,000 sockets, at each event door, against a bare broadcast of the same event over the same protocol. */
export async function fanout(workspace: Workspace): Promise<Result[]> {
  const { cluster } = workspace;
  // Storing is the business of another case: here Node has its core for itself, as the baseline has.
  moveTo('load', cluster.pids());
  try {
    return await measureDoors(workspace);
  } finally {
    moveTo('server', cluster.pids());
  }
}

async function measureDoors(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl } = workspace;
  const channelId = await createChannel(parley);
  const tokens = await admitReaders(parley, channelId);
  const post = `/channels/${channelId}/messages/post`;
  await parley.call(`POST ${post}`, { content: CONTENT });
  const event = await firstMessage(databaseUrl, channelId);
  const ours = {
    url: `${parley.url}/api/v1${post}`,
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ content: CONTENT }),
  };
  const sockets = parley.url.replace('http', 'ws');
  const subscribe = { path: 'channels.events', input: { channel_ids: [channelId] } };
  const hello = JSON.stringify({ id: 1, method: 'subscription', params: subscribe });
  return [
    await compareDoors(workspace, event, {
      what: 'fan-out to 1,000 sockets, Socket.IO door',
      kind: 'socketio',
      against: 'bare Socket.IO room',
      atLeast: 0.8,
      ours: {
        ...socketIo(tokens),
        url: `${sockets}/ws/socket.io/?EIO=4&transport=websocket`,
        trigger: ours,
      },
      baseline: {
        ...socketIo([null]),
        path: '/socket.io/?EIO=4&transport=websocket',
      },
    }),
    await compareDoors(workspace, event, {
      what: 'fan-out to 1,000 sockets, tRPC door',
      kind: 'ws',
      against: 'bare `ws` broadcast',
      atLeast: 0.3,
      ours: {
        url: `${sockets}/trpc`,
        people: tokens.map((token) => ({
          headers: { authorization: `Bearer ${token}` },
          hello: [hello],
          replies: { PING: 'PONG' },
        })),
        readyAt: '{"id":1,"result":{"type":"started"',
        eventAt: '{"id":1,"result":{"type":"data"',
        trigger: ours,
      },
      baseline: { path: '/', people: [{ headers: {}, hello: [], replies: {} }], readyAt: null, eventAt: '{' },
    }),
  ];
}

/** Tokens of new members, who may read the channel from now on. */
async function admitReaders(parley: Parley, channelId: string): Promise<string[]> {
  const readers = await Promise.all(
    Array.from({ length: READERS }, async (_, n) => {
      const account = {
        name: `reader ${n}`,
        email: `reader${n}@example.com`,
        password: 'correct horse battery',
      };
      const { id } = await parley.call<{ id: string }>('POST /auths/signup', account);
      await parley.asAdministrator(`POST /users/${id}/update`, { role: 'user' });
      const { token } = await parley.call<{ token: string }>('POST /auths/signin', account);
      return { id, token };
    }),
  );
  const grants = readers.map(({ id }) => ({ principal_type: 'user', principal_id: id, permission: 'read' }));
  const member = { principal_type: 'user', principal_id: parley.userId, permission: 'write' };
  await parley.asAdministrator(`POST /channels/${channelId}/update`, { access_grants: [member, ...grants] });
  return readers.map(({ token }) => token);
}

async function firstMessage(databaseUrl: string, channelId: string): Promise<unknown> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    const events = await readEvents(sqlOn(pool), channelId, 0, 10);
    return events.find(({ data }) => data.type === 'message');
  } finally {
    await pool.end();
  }
}

async function compareDoors(
  { parley, quick, rounds }: Workspace,
  event: unknown,
  doors: {
    what: string;
    kind: 'ws' | 'socketio';
    against: string;
    atLeast: number;
    ours: Protocol & Pick<SocketLoad, 'url' | 'trigger'>;
    baseline: Protocol & { path: string };
  },
): Promise<Result> {
  const { what, kind, against, atLeast } = doors;
  const { path, ...protocol } = doors.baseline;
  const started: Child<unknown>[] = [];
  const start = async <First>(...args: Parameters<typeof startChild>) => {
    const child = await startChild<First>(...args);
    started.push(child);
    return child;
  };
  const load = (options: Omit<SocketLoad, 'sockets'>) =>
    start('load/sockets.ts', 'load', { ...options, sockets: SOCKETS });
  const contender = (child: Child<unknown>, pid: number): Contender => ({
    pid,
    run: (isWarmUp) => child.ask<Run>({ events: isWarmUp || quick ? 60 : 200 }),
  });
  try {
    const bare = await start<number>('baselines/broadcast.ts', 'server', { kind });
    const host = `127.0.0.1:${bare.first}`;
    const trigger = { url: `http://${host}`, headers: {}, body: JSON.stringify(event) };
    const ours = await load(doors.ours);
    const baseline = await load({ ...protocol, url: `ws://${host}${path}`, trigger });
    return await compare({
      what,
      unit: 'deliveries/s',
      ours: contender(ours, parley.pid),
      baseline: contender(baseline, bare.pid),
      against,
      atLeast,
      rounds,
    });
  } finally {
    for (const child of started.reverse()) await child.stop();
  }
}
