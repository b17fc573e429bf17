import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readAccess } from '../../src/channels/channels.repository.ts';
import { insertMessage } from '../../src/channels/messages.post.repository.ts';
import type { SqlBaseline } from '../baselines/sql.ts';
import { onCore, startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { captureStatements } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import type { Contender } from '../support/rounds.ts';
import { CONNECTIONS, CONTENT, type Workspace } from '../support/workspace.ts';

/** Durable posts with their events: spread over 16 channels, and all into one, whose lock makes them queue. */
export async function post(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl, channels, rounds } = workspace;
  const options: SqlBaseline = {
    databaseUrl,
    statements: await captureStatements((sql) => postStatements(sql, parley.userId)),
    channel: { 'channel.access': 3, 'message.post': 1 },
    freshIds: { statement: 'message.post', parameter: 2 },
  };
  const bare = await startChild<string>('baselines/sql.ts', 'server', options);
  const load = {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ content: CONTENT }),
  } as const;
  const ours = (ids: string[]) =>
    httpContender(workspace, parley, {
      ...load,
      paths: ids.map((id) => `/api/v1/channels/${id}/messages/post`),
    });
  const baseline = (ids: string[]) =>
    httpContender(
      workspace,
      { url: bare.first, pid: bare.pid },
      { ...load, paths: ids.map((id) => `/${id}`) },
    );
  const against = '`node:http` + `pg`, same statements';
  const many = { what: 'post into 16 channels', ours: ours(channels), rounds };
  const alone = channels.slice(0, 1);
  try {
    const results = [
      await compare({ ...many, baseline: baseline(channels), against }),
      await compare({
        what: 'post into one channel',
        ours: ours(alone),
        baseline: baseline(alone),
        against,
        rounds,
      }),
    ];
    const pgbench = await preparePgbench(workspace);
    if (pgbench) results.push(await compare({ ...many, baseline: pgbench, against: '`pgbench -N`' }));
    return results;
  } finally {
    await bare.stop();
  }
}

type Sql = Parameters<typeof readAccess>[0];

/** The two statements of a post, in the order in which the service sends them. */
async function postStatements(sql: Sql, userId: string): Promise<void> {
  const author = { id: userId, name: 'member', role: 'user' };
  await readAccess(sql, author, '');
  const message = { id: '', channel_id: '', content: CONTENT, reply_to_id: null, parent_id: null };
  const view = { ...message, user: author, data: {}, meta: {}, reactions: [], reply_count: 0 };
  await insertMessage(sql, { ...message, data: {}, meta: {} }, author, view);
}

const run = promisify(execFile);

/** PostgreSQL's own benchmark of short durable writes, with as many clients; null where it is not installed. */
async function preparePgbench({ cluster, seconds, quick }: Workspace): Promise<Contender | null> {
  const { host, port, user, password } = cluster.address;
  const env = {
    PATH: process.env.PATH,
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
  };
  try {
    await run('pgbench', ['--version']);
  } catch {
    return null;
  }
  await cluster.createDatabase('pgbench');
  await run('pgbench', ['-i', '-q', '-s', quick ? '1' : '10', 'pgbench'], { env });
  return {
    pid: null,
    async run(isWarmUp) {
      const duration = isWarmUp ? 2 : seconds;
      const clients = String(CONNECTIONS);
      const command = [
        'pgbench',
        '-N',
        '-n',
        '-M',
        'prepared',
        '-c',
        clients,
        '-T',
        String(duration),
        'pgbench',
      ];
      const { stdout } = await run(...onCore('load', command), { env });
      const rate = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
      return { operations: rate * duration, seconds: duration };
    },
  };
}
