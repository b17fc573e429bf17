import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BY_USER } from '../../src/messages/messages.author.ts';
import { insertPosts, type NewPost } from '../../src/messages/messages.post.repository.ts';
import type { SqlBaseline } from '../baselines/sql.ts';
import { onCore, startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { CHANNEL, captureStatements, FRESH } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import type { Contender } from '../support/rounds.ts';
import { CONNECTIONS, CONTENT, type Workspace } from '../support/workspace.ts';

/**
 * Measures durable posts with their events: spread over 16 channels, and all into one, whose lock makes them
 * queue.
 */
export async function post(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl, channels, rounds } = workspace;
  const options: SqlBaseline = {
    databaseUrl,
    statements: await captureStatements((sql) => postStatement(sql, parley.userId)),
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
  const against = '`node:http` + `pg`, same statement';
  const spread = { what: 'post into 16 channels', ours: ours(channels), rounds };
  const alone = { what: 'post into one channel', ours: ours(channels.slice(0, 1)), rounds };
  try {
    const results = [
      await compare({ ...spread, baseline: baseline(channels), against }),
      await compare({ ...alone, baseline: baseline(channels.slice(0, 1)), against }),
    ];
    const pgbench = await preparePgbench(workspace);
    if (pgbench) {
      const durable = { baseline: pgbench, against: '`pgbench -N`' };
      results.push(
        await compare({ ...spread, ...durable, atLeast: 0.5 }),
        await compare({ ...alone, ...durable, atLeast: 0.25 }),
      );
    }
    return results;
  } finally {
    await bare.stop();
  }
}

type Sql = Parameters<typeof insertPosts>[0];

/** The statement of a post by itself. */
async function postStatement(sql: Sql, userId: string): Promise<void> {
  const view: NewPost['view'] = {
    id: FRESH,
    user_id: userId,
    channel_id: CHANNEL,
    content: CONTENT,
    reply_to_id: null,
    parent_id: null,
    is_pinned: false,
    pinned_by: null,
    pinned_at: null,
    data: { files: [] },
    meta: {},
    user: { id: userId, name: 'member', role: 'user' },
    reactions: [],
    reply_count: 0,
    latest_reply_at: null,
    reply_to_message: null,
    temp_id: null,
  };
  const post: NewPost = { view, is_admin: false, author: BY_USER, mentions: [], files: [] };
  await insertPosts(sql, [JSON.stringify(post)], { waits: true, refers: false });
}

const run = promisify(execFile);

/**
 * PostgreSQL's own benchmark of short durable writes, with as many clients; null without an installed
 * `pgbench`.
 */
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
