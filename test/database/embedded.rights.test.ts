import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { findBinaries, runnableBinaries } from '../../src/database/embedded/embedded.binaries.ts';
import { startEmbedded } from '../../src/database/embedded/embedded.ts';
import {
  isRoot,
  NOBODY,
  query,
  reported,
  spawnServer,
  start,
  temporaryFolder,
  until,
  usedFolder,
  whyNobodyCannotRun,
} from './embedded.support.ts';

const run = promisify(execFile);

test.skipIf(isRoot)('a data folder that cannot be written is reported in one line', async () => {
  const folder = await temporaryFolder(0o500);
  const dataDir = join(folder, 'data');
  await expect(startEmbedded({ dataDir, log: () => undefined })).rejects.toThrow(
    /cannot be used \(EACCES.*make it writable for user \d+, or set DATA_DIR/,
  );
});

describe.runIf(isRoot)('started as root', () => {
  test('PostgreSQL runs as another user in a folder that only root can enter', async () => {
    const folder = await temporaryFolder(0o700);
    const dataDir = join(folder, 'data');
    const settings = { autovacuum_naptime: '1s', log_checkpoints: 'on' };
    const first = await start(dataDir, { settings });
    expect((await stat(`/proc/${first.pid}`)).uid).not.toBe(0);
    await query(first.address, 'CREATE TABLE kept AS SELECT generate_series(1, 5000) AS n');
    await query(first.address, 'DELETE FROM kept WHERE n > 1000');
    const counts = await Promise.all(
      Array.from({ length: 20 }, () => query(first.address, 'SELECT count(*)::int AS n FROM kept')),
    );
    expect(counts).toEqual(counts.map(() => [{ n: 1000 }]));
    await until(async () => {
      const [row] = await query(
        first.address,
        `SELECT autovacuum_count::int AS n FROM pg_stat_user_tables WHERE relname = 'kept'`,
      );
      return Number(row?.n) > 0;
    });
    process.kill(first.pid, 'SIGKILL');
    await first.exited;

    const second = await start(dataDir);
    expect(await query(second.address, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }]);
    // Stopping PostgreSQL writes a checkpoint.
    await second.stop();
    await expect(second.exited).resolves.toEqual({ code: 0, signal: null });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('a cluster that root restored is given to its user again', async () => {
    const dataDir = await usedFolder();
    await (await start(dataDir)).stop();
    await run('chown', ['-R', '0:0', dataDir]);
    await chmod(join(dataDir, 'postgres'), 0o770);
    const { address } = await start(dataDir);
    expect(await query(address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  test('binaries that only root can read are copied to a folder that only root can write', async () => {
    const closed = await temporaryFolder(0o700);
    const installed = await findBinaries();
    await cp(dirname(dirname(installed.postgres)), join(closed, 'native'), { recursive: true });
    await chmod(join(closed, 'native'), 0o700);
    const hidden = { ...installed, postgres: join(closed, 'native', 'bin', 'postgres') };

    const open = await temporaryFolder(0o755);
    const [stolen, linked, good] = [join(open, 'stolen'), join(open, 'linked'), join(open, 'good')];
    await mkdir(stolen);
    await chown(stolen, NOBODY.uid, NOBODY.gid);
    await symlink(stolen, linked);

    await expect(runnableBinaries(hidden, NOBODY, [stolen, linked])).rejects.toThrow(
      /is not root's alone.*set DATABASE_URL/,
    );
    const copy = await runnableBinaries(hidden, NOBODY, [stolen, linked, good]);
    expect(copy.postgres).toBe(join(good, installed.version, 'bin', 'postgres'));
    const { stdout } = await run(copy.initdb, ['--version'], { ...NOBODY, cwd: '/' });
    expect(stdout).toContain('(PostgreSQL) 18');
    expect(await readdir(stolen)).toEqual([]);
    expect(await readdir(good)).toEqual([installed.version]);

    const made = (await stat(copy.postgres)).ctimeMs;
    await runnableBinaries(hidden, NOBODY, [good]);
    expect((await stat(copy.postgres)).ctimeMs).toBe(made);
  });

  test('an ordinary user needs only a folder', async ({ skip }) => {
    const reason = await whyNobodyCannotRun();
    skip(reason !== undefined, reason);
    const dataDir = await temporaryFolder();
    await chown(dataDir, NOBODY.uid, NOBODY.gid);
    const { pid, address } = await reported(spawnServer(dataDir, NOBODY));
    expect((await stat(`/proc/${pid}`)).uid).toBe(NOBODY.uid);
    expect(await readFile(join(dataDir, 'postgres.password'), 'utf8')).toBe(address.password);
    expect(await query(address, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  test.for(['missing', 'there'])(
    'an ordinary user gets a clear error for a folder of another user (%s)',
    async (kind, { skip }) => {
      const reason = await whyNobodyCannotRun();
      skip(reason !== undefined, reason);
      const dataDir = join(await temporaryFolder(0o755), 'data');
      if (kind === 'there') await mkdir(dataDir);
      const { refusal } = await reported(spawnServer(dataDir, NOBODY));
      expect(refusal).toMatch(
        /^EmbeddedDatabaseError: The data folder .*data cannot be used \(EACCES.*\): make it writable for user 65534, or set DATA_DIR to another folder\.$/,
      );
    },
  );
});
