import { listMessages } from '../../src/channels/messages.repository.ts';
import type { SqlBaseline } from '../baselines/sql.ts';
import { startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { CHANNEL, captureStatements } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

const PAGE = 50;
const STORED = 500;

/** The newest 50 of 500 messages with their authors, against `node:http` and `pg` with the same statement. */
export async function list(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl, rounds } = workspace;
  const channelId = await createChannel(parley);
  for (let stored = 0; stored < STORED; stored += 1) {
    await parley.call(`POST /channels/${channelId}/messages/post`, { content: CONTENT });
  }
  const caller = { id: parley.userId, role: 'user' };
  const statements = await captureStatements((sql) =>
    listMessages(sql, caller, CHANNEL, { skip: 0, limit: PAGE }),
  );
  const options: SqlBaseline = {
    databaseUrl,
    statements,
    jsonColumn: 'messages',
  };
  const bare = await startChild<string>('baselines/sql.ts', 'server', options);
  try {
    return [
      await compare({
        what: 'list 50 messages with author',
        ours: httpContender(workspace, parley, {
          paths: [`/api/v1/channels/${channelId}/messages?limit=${PAGE}`],
          headers: authorization,
        }),
        baseline: httpContender(workspace, { url: bare.first, pid: bare.pid }, { paths: [`/${channelId}`] }),
        against: '`node:http` + `pg`',
        atLeast: 0.75,
        rounds,
      }),
    ];
  } finally {
    await bare.stop();
  }
}
