import type { SocketResult } from '../load/sockets.ts';
import { type Child, moveTo, startChild } from '../support/child.ts';
import { compare } from '../support/contenders.ts';
import {
  bareDoor,
  type Door,
  type Kind,
  makeEvent,
  openDoors,
  openSockets,
  postInto,
} from '../support/eventDoors.ts';
import type { Result } from '../support/report.ts';
import type { Contender } from '../support/rounds.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 1000;

/**
 * Sends one message to 1,000 sockets at each event door, against a bare broadcast of the same event over the
 * same protocol.
 */
export async function fanout(workspace: Workspace): Promise<Result[]> {
  const { cluster } = workspace;
  // Storing is measured by another case: here Node has its core for itself, like the baseline.
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
  const event = await makeEvent(parley, databaseUrl, channelId, CONTENT);
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
      atLeast: 0.8,
      ours: { ...doors.ws, trigger },
    }),
  ];
}

async function compareDoors(
  { parley, quick, rounds }: Workspace,
  event: unknown,
  doors: {
    what: string;
    kind: Kind;
    against: string;
    atLeast: number;
    ours: Door;
  },
): Promise<Result> {
  const { what, kind, against, atLeast } = doors;
  const contender = (child: Child<unknown>, pid: number): Contender => ({
    pid,
    run: (isWarmUp) => child.ask<SocketResult>({ events: isWarmUp || quick ? 60 : 200 }),
  });
  await using bare = await startChild<number>('baselines/broadcast.ts', 'server', { kind });
  await using ours = await openSockets(doors.ours, SOCKETS);
  await using baseline = await openSockets(bareDoor(kind, bare.first, event), SOCKETS);
  return await compare({
    what,
    unit: 'deliveries/s',
    ours: contender(ours, parley.pid),
    baseline: contender(baseline, bare.pid),
    against,
    atLeast,
    rounds,
  });
}
