import type { SqlBaseline } from '../baselines/sql.ts';
import { startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { CHANNEL } from '../support/database.ts';
import type { Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

/** What a program would ask whose rights are one table of grants; the path holds the id of the caller. */
const PLAIN = {
  account: `select id, email, username, role, name, profile_image_url, last_active_at, updated_at, created_at, bio, gender,
      date_of_birth, status_emoji, status_message, status_expires_at from users where id = $1`,
  channels: `select c.*, r.last_read_at, r.notify, (select count(*) from message m
        where m.channel_id = c.id and m.created_at > coalesce(r.last_read_at, 0)) as unread
      from channel c left join channel_reader r on r.channel_id = c.id and r.user_id = $1
     where c.id in (select g.resource_id::uuid from access_grant g
        where g.resource_type = 'channel' and g.principal_type = 'user' and g.principal_id = $1::text)
     order by c.last_message_at desc nulls last`,
};

/** What each visit of the page reads first: the account of the caller, and the list of 16 channels. */
export async function home(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, databaseUrl, rounds, channels } = workspace;
  for (const id of channels)
    await parley.asAdministrator(`POST /channels/${id}/messages/post`, { content: 'New' });
  const results: Result[] = [];
  for (const [what, path, text] of [
    ['who am I (`GET /auths`)', '/api/v1/auths', PLAIN.account],
    [`list of ${channels.length} channels, each with one unread message`, '/api/v1/channels', PLAIN.channels],
  ] as const) {
    const options: SqlBaseline = { databaseUrl, statements: [{ name: 'plain', text, values: [CHANNEL] }] };
    const bare = await startChild<string>('baselines/sql.ts', 'server', options);
    try {
      results.push(
        await compare({
          what,
          ours: httpContender(workspace, parley, { paths: [path], headers: authorization }),
          baseline: httpContender(
            workspace,
            { url: bare.first, pid: bare.pid },
            { paths: [`/${parley.userId}`] },
          ),
          against: '`node:http` + `pg`',
          rounds,
        }),
      );
    } finally {
      await bare.stop();
    }
  }
  return results;
}
