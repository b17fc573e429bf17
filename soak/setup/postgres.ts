import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { urlOf } from '../../bench/support/database.ts';
import { descendants } from '../../bench/support/processes.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/database/embedded/embedded.ts';

/** A real cluster with the settings of the embedded one: `fsync` is on. It can be killed, paused and started again. */
export interface Postgres {
  url: string;
  /** The postmaster and its present children. */
  pids(): number[];
  /** Kills the postmaster like `kill -9`; its children end by themselves. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<Postgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-soak-pg-'));
  let current: EmbeddedDatabase | undefined;
  const start = async () => {
    // Its lines on killed connections are expected here.
    current ??= await startEmbedded({ dataDir, log: () => {} });
  };
  await start();
  const { address } = current as unknown as EmbeddedDatabase;
  return {
    url: urlOf(address, address.dbName),
    pids: () => (current ? [current.pid, ...descendants(current.pid).map(({ pid }) => pid)] : []),
    async kill() {
      const killed = current;
      if (!killed) return;
      process.kill(killed.pid, 'SIGKILL');
      await killed.exited;
      current = undefined;
    },
    start,
    async stop() {
      await current?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
