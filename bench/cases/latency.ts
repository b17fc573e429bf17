import type { SocketResult } from '../load/sockets.ts';
import { type Child, startChild } from '../support/child.ts';
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
import { median } from '../support/rounds.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 1000;
const DOORS: { kind: Kind; what: string; against: string }[] = [
  { kind: 'socketio', what: 'Socket.IO door', against: 'bare Socket.IO room' },
  { kind: 'ws', what: 'tRPC door', against: 'bare `ws` broadcast' },
];

/**
 * Measures from a post to its delivery to 1,000 sockets, storing included, at half of the rate that saturates
 * the server, which is measured right before; and the same for a bare broadcast at the same rate. Server and
 * database share their core.
 */
export async function latency(workspace: Workspace): Promise<Result[]> {
  const { parley, databaseUrl } = workspace;
  const channelId = await createChannel(parley);
  const doors = await openDoors(parley, channelId, SOCKETS);
  const event = await makeEvent(parley, databaseUrl, channelId, CONTENT);
  const results: Result[] = [];
  for (const { kind, what, against } of DOORS) {
    const ours = { ...doors[kind], trigger: postInto(parley, channelId, CONTENT) };
    results.push(...(await measure(workspace, { kind, what, against, ours, event })));
  }
  return results;
}

async function measure(
  { quick, rounds }: Workspace,
  door: { kind: Kind; what: string; against: string; ours: Door; event: unknown },
): Promise<Result[]> {
  await using server = await startChild<number>('baselines/broadcast.ts', 'server', { kind: door.kind });
  await using bare = await openSockets(bareDoor(door.kind, server.first, door.event), SOCKETS);
  await using ours = await openSockets(door.ours, SOCKETS);
  for (const child of [ours, bare]) await child.ask({ events: 60 });
  const { operations, seconds } = await ours.ask<SocketResult>({ events: quick ? 60 : 300 });
  const perSecond = operations / SOCKETS / seconds / 2;
  const task = { events: quick ? 60 : 300, perSecond };
  const paced = async (child: Child<unknown>) => {
    const { latencyMs } = await child.ask<SocketResult>(task);
    return latencyMs ?? { p50: Number.NaN, p99: Number.NaN };
  };
  const measured: Record<'ours' | 'bare', { p50: number; p99: number }>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    measured.push({ ours: await paced(ours), bare: await paced(bare) });
  }
  return (['p50', 'p99'] as const).map((quantile) => {
    const figure = median(measured.map((round) => round.ours[quantile]));
    const baseline = median(measured.map((round) => round.bare[quantile]));
    return {
      what: `post to delivery at ${perSecond.toFixed(0)} posts/s, ${door.what}, ${quantile}`,
      unit: 'ms',
      ours: figure,
      baseline: { what: door.against, figure: baseline },
      ratio: figure / baseline,
      target: quantile === 'p99' ? { atMost: 25 } : null,
    };
  });
}
