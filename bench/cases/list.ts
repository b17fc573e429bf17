import { listMessages } from '../../src/messages/messages.lists.repository.ts';
import type { SqlBaseline } from '../baselines/sql.ts';
import { startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { captureStatements } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import { createChannel, seedMessages, type Workspace } from '../support/workspace.ts';

const PAGE = 50;

/**
 * Reads the newest 50 messages with their authors, three groups of reactions each, replies and quotes,
 * against `node:http` and `pg` with the same statement; from a small and from a large channel, which should
 * cost the same.
 */
export async function list(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl, rounds } = workspace;
  const results: Result[] = [];
  for (const stored of workspace.quick ? [1_000, 20_000] : [1_000, 1_000_000]) {
    const channelId = await createChannel(parley);
    await seedMessages(workspace, channelId, stored);
    const caller = { id: parley.userId, role: 'user' };
    const statements = await captureStatements((sql) =>
      listMessages(sql, caller, channelId, { skip: 0, limit: PAGE }),
    );
    const options: SqlBaseline = {
      databaseUrl,
      statements,
    };
    const bare = await startChild<string>('baselines/sql.ts', 'server', options);
    try {
      results.push(
        await compare({
          what: `list 50 messages with 3 reactions each, of ${stored.toLocaleString('en')}`,
          ours: httpContender(workspace, parley, {
            paths: [`/api/v1/channels/${channelId}/messages?limit=${PAGE}`],
            headers: authorization,
          }),
          baseline: httpContender(
            workspace,
            { url: bare.first, pid: bare.pid },
            { paths: [`/${channelId}`] },
          ),
          against: '`node:http` + `pg`',
          atLeast: 0.75,
          rounds,
        }),
      );
    } finally {
      await bare.stop();
    }
  }
  return results;
}
