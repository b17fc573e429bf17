import type { SqlBaseline } from '../baselines/sql.ts';
import { startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { CHANNEL } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import { createChannel, seedMessages, type Workspace } from '../support/workspace.ts';

const PAGE = 50;

/** What a program without rights, quotes, limits and a fixed form would ask: messages with authors, and their reactions. */
const PLAIN = [
  `select m.*, u.name, u.role from message m left join users u on u.id = m.user_id
    where m.channel_id = $1 and m.parent_id is null order by m.created_at desc limit ${PAGE}`,
  `select r.message_id, r.name, u.id, u.name as person from message_reaction r join users u on u.id = r.user_id
    where r.channel_id = $1 and r.message_id in (
      select id from message where channel_id = $1 and parent_id is null order by created_at desc limit ${PAGE})`,
];

/**
 * Reads the newest 50 messages with their authors, three groups of reactions each, replies and quotes,
 * against `node:http` and `pg` with two plain statements; from a small and from a large channel, which should
 * cost the same. A page before the newest is never kept.
 */
export async function list(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl, rounds } = workspace;
  const results: Result[] = [];
  for (const stored of workspace.quick ? [1_000, 20_000] : [1_000, 1_000_000]) {
    const channelId = await createChannel(parley);
    await seedMessages(workspace, channelId, stored);
    const statements = PLAIN.map((text, n) => ({ name: `plain${n}`, text, values: [CHANNEL] }));
    const options: SqlBaseline = { databaseUrl, statements };
    const bare = await startChild<string>('baselines/sql.ts', 'server', options);
    try {
      for (const [which, query, atLeast] of [
        ['the newest', '', 1],
        ['later', '&skip=1', undefined],
      ] as const) {
        results.push(
          await compare({
            what: `list ${which} 50 messages with 3 reactions each, of ${stored.toLocaleString('en')}`,
            ours: httpContender(workspace, parley, {
              paths: [`/api/v1/channels/${channelId}/messages?limit=${PAGE}${query}`],
              headers: authorization,
            }),
            baseline: httpContender(
              workspace,
              { url: bare.first, pid: bare.pid },
              { paths: [`/${channelId}`] },
            ),
            against: '`node:http` + `pg`',
            ...(atLeast !== undefined && { atLeast }),
            rounds,
          }),
        );
      }
    } finally {
      await bare.stop();
    }
  }
  return results;
}
