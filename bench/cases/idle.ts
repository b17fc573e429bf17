import { setTimeout as delay } from 'node:timers/promises';
import type { SocketLoad } from '../load/sockets.ts';
import { startChild } from '../support/child.ts';
import { bareDoor, openDoors } from '../support/eventDoors.ts';
import { startParley } from '../support/parley.ts';
import { collectedHeap } from '../support/processes.ts';
import type { Result } from '../support/report.ts';
import { createChannel, type Workspace } from '../support/workspace.ts';

const SOCKETS = 1000;
/** The maximum time until everything of a closed socket is freed. */
const SETTLE_MS = 2000;

const COLLECTING = [
  '--expose-gc',
  `--import=${new URL('../support/collectOnSignal.ts', import.meta.url).href}`,
];

/** Measures the memory of an idle socket beyond one of the bare library: the heap after a collection. */
export async function idle({ cluster }: Workspace): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase('idle');
  const parley = await startParley({ databaseUrl, env: { NODE_OPTIONS: COLLECTING.join(' ') } });
  try {
    const doors = await openDoors(parley, await createChannel(parley), SOCKETS);
    const results: Result[] = [];
    for (const [kind, what, against] of [
      ['socketio', 'Socket.IO door', 'bare Socket.IO'],
      ['ws', 'tRPC door', 'bare `ws`'],
    ] as const) {
      const bare = await startChild<number>('baselines/broadcast.ts', 'server', { kind }, COLLECTING);
      try {
        const baseline = await measure(bare.pid, { ...bareDoor(kind, bare.first, null), sockets: SOCKETS });
        const ours = await measure(parley.pid, { ...doors[kind], sockets: SOCKETS });
        results.push({
          what: `memory of an idle socket above ${against}, ${what}`,
          unit: 'KB',
          ours: ours - baseline,
          baseline: { what: `${against} itself`, figure: baseline },
          ratio: null,
          target: { atMost: 25 },
        });
      } finally {
        await bare.stop();
      }
    }
    return results;
  } finally {
    await parley.stop();
  }
}

/**
 * KB for each socket. The sockets are opened twice, since the first ones also load code, which is not
 * counted.
 */
async function measure(pid: number, load: SocketLoad): Promise<number> {
  const open = () => startChild('load/sockets.ts', 'load', load);
  const settled = async () => {
    await delay(SETTLE_MS);
    return collectedHeap(pid);
  };
  const first = await open();
  await first.stop();
  const before = await settled();
  const second = await open();
  try {
    return ((await settled()) - before) / load.sockets / 1000;
  } finally {
    await second.stop();
  }
}
