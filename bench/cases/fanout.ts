import pg from 'pg';
import { readEvents } from '../../src/channels/events.repository.ts';
import type { SocketLoad, SocketResult } from '../load/sockets.ts';
import { type Child, moveTo, startChild } from '../support/child.ts';
import { compare } from '../support/contenders.ts';
import { sqlOn } from '../support/database.ts';
import { BARE_DOORS, openDoors, postInto } from '../support/eventDoors.ts';
import type { Result } from '../support/report.ts';
import type { Contender } from '../support/rounds.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 1000;

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
  const { parley, databaseUrl } = workspace;
  const channelId = await createChannel(parley);
  const doors = await openDoors(parley, channelId, SOCKETS);
  await parley.call(`POST /channels/${channelId}/messages/post`, { content: CONTENT });
  const event = await firstMessage(databaseUrl, channelId);
  const trigger = postInto(parley, channelId, CONTENT);
  return [
    await compareDoors(workspace, event, {
      what: 'fan-out to 1,000 sockets, Socket.IO door',
      kind: 'socketio',
      against: 'bare Socket.IO room',
      atLeast: 0.8,
      ours: { ...doors.socketio, trigger },
    }),
    await compareDoors(workspace, event, {
      what: 'fan-out to 1,000 sockets, tRPC door',
      kind: 'ws',
      against: 'bare `ws` broadcast',
      atLeast: 0.3,
      ours: { ...doors.ws, trigger },
    }),
  ];
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
    ours: Omit<SocketLoad, 'sockets'>;
  },
): Promise<Result> {
  const { what, kind, against, atLeast } = doors;
  const { path, ...protocol } = BARE_DOORS[kind];
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
    run: (isWarmUp) => child.ask<SocketResult>({ events: isWarmUp || quick ? 60 : 200 }),
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
