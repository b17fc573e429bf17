import { channelAllows, HAS_MEMBERS } from '../channelbase/channels.policy.ts';
import { ACCOUNT } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';

/** Must equal the expression of the index `users_notified`. Otherwise each message scans all accounts. */
const ADDRESS = `nullif(u.settings #>> '{ui,notifications,webhook_url}', '')`;

/** SQL for whether a message concerns the reader `u` of the channel `c`; `r` is the mark of the reader there. */
export const IS_CONCERNED = `case
  when r.notify = 'none' then false
  when u.id = any(:mentionedUserIds::uuid[]) or c.type = 'dm' then true
  -- Who has never opened a standard channel, though it is open to them, did not ask to hear of it.
  else (${HAS_MEMBERS} or r.user_id is not null) and (:everyone or coalesce(r.notify, 'all') = 'all')
end`;

const CONCERNED = statement<
  { id: string; url: string },
  { channelId: string; authorId: string; mentionedUserIds: readonly string[]; everyone: boolean }
>(
  'notification.concerned',
  `select u.id, ${ADDRESS} as url
     from channel c
     join users u on ${ADDRESS} is not null and u.id <> :authorId and u.role <> 'pending'
     left join channel_reader r on r.channel_id = c.id and r.user_id = u.id
    where c.id = :channelId and ${channelAllows('read', ACCOUNT)} and ${IS_CONCERNED}`,
);

export interface PostedNotice {
  channelId: string;
  authorId: string;
  mentionedUserIds: readonly string[];
  everyone: boolean;
}

/** The recipients of a new message who have a webhook, with its address. */
export const readConcerned = (
  sql: Sql,
  { channelId, authorId, mentionedUserIds, everyone }: PostedNotice,
): Promise<{ id: string; url: string }[]> =>
  sql.rows(CONCERNED, { channelId, authorId, mentionedUserIds, everyone });
