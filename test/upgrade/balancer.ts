import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { keepSweeping } from '../../src/core/sweep.ts';

const CHECK_MS = 200;

/** Stands before the processes, as the balancer of an installation does. */
export interface Balancer {
  /** Forwards each connection to a process that is ready. */
  url: string;
  /** The address of the next process that is ready; waits for one. */
  next(): Promise<string>;
  /** Replaces the addresses of the processes. */
  lead(urls: string[]): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  let all: string[] = [];
  let ready: string[] = [];
  let turn = 0;
  const sockets = new Set<Socket>();
  const isReady = (url: string) =>
    fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
  async function check(): Promise<void> {
    const asked = all;
    const states = await Promise.all(asked.map(isReady));
    if (asked === all) ready = asked.filter((_, index) => states[index]);
  }
  const checking = keepSweeping(CHECK_MS, check, () => {});
  const pick = () => ready[turn++ % Math.max(1, ready.length)];

  const server = createServer((client) => {
    const to = pick();
    if (!to) return client.destroy();
    const target = connect(Number(new URL(to).port), '127.0.0.1');
    for (const [side, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(side);
      side.on('error', () => {});
      side.on('close', () => {
        sockets.delete(side);
        other.destroy();
      });
      side.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async next() {
      for (;;) {
        const url = pick();
        if (url) return url;
        await check();
      }
    },
    lead(urls) {
      all = urls;
      ready = ready.filter((url) => urls.includes(url));
    },
    async close() {
      await checking.close();
      server.close();
      for (const side of sockets) side.destroy();
    },
  };
}
