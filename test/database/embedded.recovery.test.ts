import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/database/embedded/embedded.ts';
import {
  isAlive,
  isRoot,
  query,
  reported,
  spawnServer,
  start,
  temporaryFolder,
  until,
  usedFolder,
} from './embedded.support.ts';

test('the start ends the PostgreSQL of a killed server and keeps its data', async () => {
  const dataDir = await usedFolder();
  const server = spawnServer(dataDir);
  const orphan = await reported(server);
  await query(orphan.address, 'CREATE TABLE kept AS SELECT 1 AS n');
  server.kill('SIGKILL');
  await once(server, 'exit');
  expect(isAlive(orphan.pid)).toBe(true);

  const seen: string[] = [];
  const database = await start(dataDir, { log: (line) => seen.push(line) });
  await until(() => !isAlive(orphan.pid));
  expect(seen).toEqual([`Stopping PostgreSQL (process ${orphan.pid}) that an earlier server left behind`]);
  expect(await query(database.address, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

test('a server that exits without stopping ends its PostgreSQL', async () => {
  const server = spawnServer(await temporaryFolder());
  const { pid } = await reported(server);
  server.kill('SIGTERM');
  await until(() => !isAlive(pid));
});

test('a server that is killed during its first start does not hinder the next', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, 'postgres.hold'), '');
  const server = spawnServer(dataDir);
  await until(async () => {
    const draft = (await readdir(dataDir)).find((name) => name.startsWith('postgres.new-'));
    return draft !== undefined && (await readdir(join(dataDir, draft))).includes('postgresql.conf');
  });
  server.kill('SIGKILL');
  await once(server, 'exit');
  await rm(join(dataDir, 'postgres.hold'));
  const { address } = await start(dataDir);
  expect(await query(address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  expect((await readdir(dataDir)).sort()).toEqual([
    'postgres',
    'postgres.password',
    'server.lock',
    'server.pid',
  ]);
});

test('a second server on the same folder is refused, in this process and in another', async () => {
  const dataDir = await usedFolder();
  const { address } = await start(dataDir);
  const refusal = `The data folder ${dataDir} is in use by another server (process ${process.pid}): stop that one, or set DATA_DIR to another folder.`;
  await expect(startEmbedded({ dataDir, log: () => undefined })).rejects.toThrow(refusal);
  const other = await reported(spawnServer(dataDir));
  expect(other.refusal).toBe(`EmbeddedDatabaseError: ${refusal}`);
  expect(await query(address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('PostgreSQL that was killed by the system is reported, and can be started again at once', async () => {
  const dataDir = await usedFolder();
  const first = await start(dataDir);
  await query(first.address, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
  const busy = query(first.address, 'SELECT count(*) FROM generate_series(1, 3000000)').catch(
    () => undefined,
  );
  process.kill(first.pid, 'SIGKILL');
  await expect(first.exited).resolves.toEqual({ code: null, signal: 'SIGKILL' });
  const second = await start(dataDir);
  expect(await query(second.address, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }]);
  await busy;
});

test.each(['ended', 'gone to another process'])(
  'a process file whose number has %s does not hinder the start',
  async (kind) => {
    const dataDir = await usedFolder();
    const first = await start(dataDir);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const cluster = join(dataDir, 'postgres');
    let stranger = first.pid;
    if (kind !== 'ended') {
      const { uid, gid } = await stat(cluster);
      const child = spawn('sleep', ['600'], isRoot ? { uid, gid } : {});
      onTestFinished(() => void child.kill());
      await once(child, 'spawn');
      stranger = Number(child.pid);
      for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
        await writeFile(join(cluster, name), `${stranger}\n${cluster}\n`);
      }
    }
    const second = await start(dataDir);
    expect(await query(second.address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    if (kind !== 'ended') expect(isAlive(stranger)).toBe(true);
  },
);
