import { channelAllows } from '../channelbase/channels.policy.ts';
import { ACCOUNT } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';

/** Stands for all readers of the channel, in place of the id of a mentioned person. */
export const EVERYONE = '00000000-0000-0000-0000-000000000000';

const READS = `u.role <> 'pending' and ${channelAllows('read', ACCOUNT)}`;

/** The readers of the channel with these names or ids. */
const CALLED = statement<
  { id: string; name: number | null },
  { channelId: string; names: readonly string[]; userIds: readonly string[] }
>(
  'mention.called',
  `select u.id, k.n::int - 1 as name from channel c cross join unnest(:names::text[]) with ordinality as k (name, n)
     join users u on lower(u.name) = lower(k.name) or lower(u.username) = lower(k.name)
    where c.id = :channelId and ${READS}
   union all
   select u.id, null from channel c join users u on u.id = any (:userIds::uuid[]) where c.id = :channelId and ${READS}`,
);

export interface Called {
  /** For each name, the ids of the readers with this name. */
  byName: string[][];
  /** The given ids that belong to readers. */
  byId: string[];
}

/** Finds readers of a channel by name or user name, in any case, and by id. */
export async function findCalled(
  sql: Sql,
  channelId: string,
  names: readonly string[],
  userIds: readonly string[],
): Promise<Called> {
  const rows = await sql.rows(CALLED, { channelId, names, userIds });
  const byName = names.map((): string[] => []);
  for (const { id, name } of rows) if (name !== null) byName[name]?.push(id);
  return { byName, byId: rows.filter(({ name }) => name === null).map(({ id }) => id) };
}

const REPLACE = statement<never, { channelId: string; messageId: string; userIds: readonly string[] }>(
  'mention.replace',
  `with gone as (
     delete from message_mention where channel_id = :channelId and message_id = :messageId and user_id <> all (:userIds::uuid[])
   )
   insert into message_mention (channel_id, message_id, user_id, created_at)
   select m.channel_id, m.id, unnest(:userIds::uuid[]), m.created_at from message m where m.channel_id = :channelId and m.id = :messageId
       on conflict do nothing`,
);

/** Sets the mentions of a message. Mentions that stay keep their rows. */
export async function storeMentions(
  sql: Sql,
  channelId: string,
  messageId: string,
  userIds: readonly string[],
): Promise<void> {
  await sql.rows(REPLACE, { channelId, messageId, userIds });
}
