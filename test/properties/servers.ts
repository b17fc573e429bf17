import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { freePort, type ServerProcess, spawnMain } from '../support/process.ts';
import type { Place } from './follower.ts';

/** Real processes of the main program on one database; each keeps its address after a restart. */
export interface Servers {
  /** A running server: a number gets the same server while the same servers run. Waits while none runs. */
  where(n: number): Promise<Place>;
  /** True while the server of this place still runs. */
  isPlace(place: Place): boolean;
  /** Ends a server without warning, like `kill -9`. */
  kill(n: number): Promise<void>;
  start(n: number): Promise<void>;
  close(): Promise<void>;
}

export async function startServers(
  count: number,
  database: TestDatabase,
  env: Record<string, string> = {},
): Promise<Servers> {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const ports: string[] = [];
  for (let n = 0; n < count; n += 1) ports.push(`${await freePort()}`);
  const processes = new Map<number, ServerProcess>();
  const places = new Map<number, Place>();
  let lives = 0;

  async function start(n: number): Promise<void> {
    if (processes.has(n)) return;
    const own = { DATA_DIR, DATABASE_URL: database.url, PORT: ports[n] ?? '', LOG_LEVEL: 'error' };
    const server = spawnMain({ SECRET_KEY: 'a secret that outlives every process', ...own, ...env });
    processes.set(n, server);
    const url = await server.ready();
    lives += 1;
    places.set(n, { url, life: lives });
  }
  async function kill(n: number): Promise<void> {
    places.delete(n);
    await processes.get(n)?.stop('SIGKILL');
    processes.delete(n);
  }
  const running = () => ports.flatMap((_, n) => places.get(n) ?? []);
  await Promise.all(ports.map((_, n) => start(n)));
  return {
    where: (n) => until('a server', () => running().at(n % (places.size || 1))),
    isPlace: (place) => running().includes(place),
    kill,
    start,
    async close() {
      await Promise.all(ports.map((_, n) => kill(n)));
      await rm(DATA_DIR, { recursive: true, force: true });
    },
  };
}
