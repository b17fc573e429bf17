import { execFile } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';
import pg from 'pg';
import { isPinned } from './child.ts';

/** Describes the machine of the figures, without a name that identifies it. */
export async function describeMachine(databaseUrl: string): Promise<Record<string, string>> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query<{ version: string; fsync: string }>(
    "select current_setting('server_version') as version, current_setting('fsync') as fsync",
  );
  await client.end();
  return {
    cpu: `${cpus().length} × ${cpus()[0]?.model}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release().split('-', 1)[0]}`,
    node: process.versions.node,
    postgresql: `${rows[0]?.version}, fsync ${rows[0]?.fsync}`,
    python: await versionOf(process.env.PYTHON ?? 'python3'),
    pgbench: await versionOf('pgbench'),
    pinned: isPinned ? 'server and database on core 0, load on core 1' : 'no',
  };
}

async function versionOf(command: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, ['--version']);
    return /\d[\d.]*/.exec(stdout)?.[0] ?? 'unknown';
  } catch {
    return 'not installed';
  }
}
