import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseAddress, startEmbedded } from '../../src/database/embedded/embedded.ts';

export interface TestCluster {
  address: DatabaseAddress;
  stop(): Promise<void>;
}

/**
 * One temporary cluster for a test run. Its data need not survive a crash, so nothing waits for the disk. The
 * role of `address` may create databases.
 */
export async function startCluster(): Promise<TestCluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const database = await startEmbedded({
    dataDir,
    log: (line) => console.error(line),
    settings: {
      ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
      // All test files of the run share it, and some have several servers of 20 connections each.
      max_connections: '300',
    },
  });
  // Checking a password takes both sides milliseconds for each connection. Only this user can enter the folder of the socket.
  await writeFile(join(dataDir, 'postgres', 'pg_hba.conf'), `local all ${database.address.user} trust\n`);
  process.kill(database.pid, 'SIGHUP');
  return {
    address: database.address,
    async stop() {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
