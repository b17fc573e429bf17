import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddedDatabaseError, startEmbedded } from '../../src/database/embedded/embedded.ts';
import { startCluster } from '../support/cluster.ts';
import { query, start, temporaryFolder, until, usedFolder } from './embedded.support.ts';

test('the first start makes a cluster; a later start finds its data', async () => {
  const dataDir = join(await temporaryFolder(), 'not', 'yet', 'there');
  const first = await start(dataDir);
  await query(first.address, 'CREATE TABLE kept AS SELECT 1 AS n');
  await first.stop();
  await expect(first.exited).resolves.toEqual({ code: 0, signal: null });

  const second = await start(dataDir);
  expect(await query(second.address, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  expect(second.address.password).toBe(first.address.password);
});

test('the cluster is durable, portable and closed to the network', async () => {
  const { address } = await start(await temporaryFolder());
  const [row] = await query(
    address,
    `SELECT current_user::text AS role, current_database()::text AS db, pg_encoding_to_char(encoding) AS encoding,
            datlocprovider::text AS provider, datlocale AS locale, rolsuper AS is_super,
            current_setting('fsync') AS fsync, current_setting('data_checksums') AS checksums,
            current_setting('listen_addresses') AS tcp, current_setting('server_version_num')::int / 10000 AS major
     FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user`,
  );
  expect(row).toEqual({
    role: 'parley',
    db: 'parley',
    encoding: 'UTF8',
    provider: 'b',
    locale: 'C.UTF-8',
    is_super: false,
    fsync: 'on',
    checksums: 'on',
    tcp: '',
    major: 18,
  });
});

test('a connection requires the password, and the superuser cannot connect', async () => {
  const dataDir = await usedFolder();
  const seen: string[] = [];
  const { address } = await start(dataDir, { log: (line) => seen.push(line) });
  await expect(query({ ...address, password: 'guess' }, 'SELECT 1')).rejects.toThrow(
    'password authentication failed',
  );
  await expect(query({ ...address, user: 'postgres' }, 'SELECT 1')).rejects.toThrow('no pg_hba.conf entry');
  expect(seen.join('\n')).toContain('password authentication failed');
  for (const name of ['postgres.password', 'postgres', 'postgres/.s.PGSQL.5432']) {
    expect((await stat(join(dataDir, name))).mode & 0o077, name).toBe(0);
  }
});

test('a lost password file is replaced', async () => {
  const dataDir = await usedFolder();
  const first = await start(dataDir);
  await first.stop();
  await rm(join(dataDir, 'postgres.password'));
  const second = await start(dataDir);
  expect(second.address.password).not.toBe(first.address.password);
  expect(await query(second.address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('stop ends open connections and leaves no socket', async () => {
  const dataDir = await usedFolder();
  const seen: string[] = [];
  const database = await start(dataDir, { log: (line) => seen.push(line) });
  const sleeping = query(database.address, 'SELECT pg_sleep(600)').catch((error: Error) => error.message);
  await until(async () => {
    const found = await query(
      database.address,
      `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`,
    );
    return found.length === 1;
  });
  await database.stop();
  expect(await sleeping).toContain('terminating connection due to administrator command');
  expect(seen).toEqual([]);
  expect(await readdir(dataDir)).not.toContain('server.pid');
  expect(await readdir(join(dataDir, 'postgres'))).not.toContain('.s.PGSQL.5432');
});

test('a data folder with a path too long for a socket uses a private folder for it', async () => {
  const dataDir = join(await temporaryFolder(), 'd'.repeat(60), 'it\'s, a "deep" one', 'e'.repeat(60));
  const first = await start(dataDir);
  expect(first.address.host.length).toBeLessThan(90);
  expect((await stat(first.address.host)).mode & 0o777).toBe(0o700);
  expect(await query(first.address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  await first.stop();
  await expect(stat(first.address.host)).rejects.toThrow('ENOENT');
});

test.each([
  {
    what: 'a cluster of another version',
    async harm(dataDir: string) {
      await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    },
    says: /holds a cluster of PostgreSQL 17, but this server runs 18: move the data with pg_dump/,
  },
  {
    what: 'a damaged cluster',
    async harm(dataDir: string) {
      await rm(join(dataDir, 'postgres', 'global', 'pg_control'));
    },
    says: /does not start \(.*pg_control.*\): mend that, restore/,
  },
  {
    what: 'a folder of something else in its place',
    async harm(dataDir: string) {
      await rm(join(dataDir, 'postgres'), { recursive: true });
      await mkdir(join(dataDir, 'postgres', 'other'), { recursive: true });
    },
    says: /is not empty and holds no cluster: move it away/,
  },
])('$what is reported in one line', async ({ harm, says }) => {
  const dataDir = await usedFolder();
  await (await start(dataDir)).stop();
  await harm(dataDir);
  const failure = await startEmbedded({ dataDir, log: () => undefined }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(EmbeddedDatabaseError);
  expect((failure as Error).message).toMatch(says);
  expect((failure as Error).message).toContain(dataDir);
  expect((failure as Error).message).not.toContain('\n');
});

test('a file in place of the data folder is reported in one line', async () => {
  const dataDir = join(await temporaryFolder(), 'file');
  await writeFile(dataDir, '');
  await expect(startEmbedded({ dataDir, log: () => undefined })).rejects.toThrow(
    `${dataDir} is not a folder`,
  );
});

test('the cluster for test runs can copy databases', async () => {
  const cluster = await startCluster();
  try {
    await query(cluster.address, 'CREATE DATABASE copy TEMPLATE template0');
    const copy = { ...cluster.address, dbName: 'copy' };
    expect(await query(copy, 'SELECT current_database() AS name')).toEqual([{ name: 'copy' }]);
  } finally {
    await cluster.stop();
  }
});
