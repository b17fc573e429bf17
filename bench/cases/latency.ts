import type { SocketLoad, SocketResult, SocketTask } from '../load/sockets.ts';
import { startChild } from '../support/child.ts';
import { openDoors, postInto } from '../support/eventDoors.ts';
import type { Result } from '../support/report.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 1000;

/**
 * From a post to its delivery to 1,000 sockets, storing included, at half of the rate that saturates the server, which is measured
 * right before. Server and database share their core.
 */
export async function latency({ parley, quick }: Workspace): Promise<Result[]> {
  const channelId = await createChannel(parley);
  const doors = await openDoors(parley, channelId, SOCKETS);
  const results: Result[] = [];
  for (const [what, door] of [
    ['Socket.IO door', doors.socketio],
    ['tRPC door', doors.ws],
  ] as const) {
    const load: SocketLoad = { ...door, sockets: SOCKETS, trigger: postInto(parley, channelId, CONTENT) };
    const child = await startChild('load/sockets.ts', 'load', load);
    try {
      const run = (task: SocketTask) => child.ask<SocketResult>(task);
      await run({ events: 60 });
      const { operations, seconds } = await run({ events: quick ? 60 : 300 });
      const perSecond = operations / SOCKETS / seconds / 2;
      const { latencyMs } = await run({ events: quick ? 60 : 600, perSecond });
      const name = `post to delivery at ${perSecond.toFixed(0)} posts/s, ${what}`;
      results.push(figure(`${name}, p50`, latencyMs?.p50), figure(`${name}, p99`, latencyMs?.p99, 25));
    } finally {
      await child.stop();
    }
  }
  return results;
}

const figure = (what: string, ours = Number.NaN, atMost?: number): Result => ({
  what,
  unit: 'ms',
  ours,
  baseline: null,
  ratio: null,
  target: atMost === undefined ? null : { atMost },
});
