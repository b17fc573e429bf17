import pg from 'pg';
import { readEvents } from '../../src/channels/events.repository.ts';
import type { SocketLoad } from '../load/sockets.ts';
import { type Child, moveTo, startChild } from '../support/child.ts';
import { compare } from '../support/contenders.ts';
import { sqlOn } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import type { Contender } from '../support/rounds.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 500;

type Protocol = Pick<SocketLoad, 'hello' | 'replies' | 'readyAt' | 'eventAt'>;
type Run = { operations: number; seconds: number };

/** What is spoken with a bare Socket.IO server, and with our door by a client that listens to `events:channel` only. */
const socketIo = (auth: object, join: string | null): Protocol => ({
  hello: [`40${JSON.stringify(auth)}`],
  // Engine.IO's ping and pong; the acknowledgement of the join says that the socket sits in its rooms.
  replies: { 2: '3', ...(join !== null && { 40: join }) },
  readyAt: join === null ? '40' : '430',
  eventAt: '42["events:channel"',
});

/** One message to 500 sockets, at each event door, against a bare broadcast of the same event over the same protocol. */
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
  const post = `/channels/${channelId}/messages/post`;
  await parley.call(`POST ${post}`, { content: CONTENT });
  const event = await firstEvent(databaseUrl, channelId);
  const ours = {
    url: `${parley.url}/api/v1${post}`,
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ content: CONTENT }),
  };
  const sockets = parley.url.replace('http', 'ws');
  const subscribe = { path: 'channels.events', input: { channel_ids: [channelId] } };
  const auth = { token: parley.token, events: 'envelope' };
  const join = `420["user-join",${JSON.stringify({ auth: { token: parley.token } })}]`;
  return [
    await compareDoors(workspace, event, {
      what: 'fan-out to 500 sockets, Socket.IO door',
      kind: 'socketio',
      against: 'bare Socket.IO room',
      atLeast: 0.8,
      ours: {
        ...socketIo(auth, join),
        url: `${sockets}/ws/socket.io/?EIO=4&transport=websocket`,
        trigger: ours,
      },
      baseline: { ...socketIo({}, null), path: '/socket.io/?EIO=4&transport=websocket' },
    }),
    await compareDoors(workspace, event, {
      what: 'fan-out to 500 sockets, tRPC door',
      kind: 'ws',
      against: 'bare `ws` broadcast',
      atLeast: 0.15,
      ours: {
        url: `${sockets}/trpc`,
        hello: [JSON.stringify({ id: 1, method: 'subscription', params: subscribe })],
        replies: { PING: 'PONG' },
        readyAt: '{"id":1,"result":{"type":"started"',
        eventAt: '{"id":1,"result":{"type":"data"',
        trigger: ours,
      },
      baseline: { path: '/', hello: [], replies: {}, readyAt: null, eventAt: '{' },
    }),
  ];
}

async function firstEvent(databaseUrl: string, channelId: string): Promise<unknown> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    const [event] = await readEvents(sqlOn(pool), channelId, 0, 1);
    return event;
  } finally {
    await pool.end();
  }
}

async function compareDoors(
  { parley, authorization, quick, rounds }: Workspace,
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
  const load = (options: Omit<SocketLoad, 'sockets' | 'headers'>, headers: Record<string, string>) =>
    start('load/sockets.ts', 'load', { ...options, headers, sockets: SOCKETS });
  const contender = (child: Child<unknown>, pid: number): Contender => ({
    pid,
    run: (isWarmUp) => child.ask<Run>({ events: isWarmUp || quick ? 60 : 200 }),
  });
  try {
    const bare = await start<number>('baselines/broadcast.ts', 'server', { kind });
    const host = `127.0.0.1:${bare.first}`;
    const trigger = { url: `http://${host}`, headers: {}, body: JSON.stringify(event) };
    const ours = await load(doors.ours, kind === 'ws' ? authorization : {});
    const baseline = await load({ ...protocol, url: `ws://${host}${path}`, trigger }, {});
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
