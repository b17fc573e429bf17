import { channelAllows } from '../../channelbase/channels.policy.ts';
import { ACCOUNT } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { IS_CONCERNED, type PostedNotice } from '../notifications.repository.ts';

export interface SubscriptionRow {
  id: string;
  session_id: string;
  origin: string;
  /** The User-Agent with which the session began. */
  user_agent: string;
  created_at: number;
}

/** SQL for a `SubscriptionRow`, from the row `s`. */
const COLUMNS = 's.id, s.session_id, s.origin, session.user_agent, s.created_at';
const SESSION = 'join session on session.id = s.session_id';

interface NewSubscription {
  id: string;
  userId: string;
  sessionId: string;
  endpointHash: string;
  origin: string;
  /** Sealed. */
  target: string;
  now: number;
}

const STORE = statement<SubscriptionRow, NewSubscription>(
  'push.store',
  `with s as (
     insert into push_subscription (id, user_id, session_id, endpoint_hash, origin, target, created_at)
     values (:id, :userId, :sessionId, :endpointHash, :origin, :target, :now)
     on conflict (endpoint_hash) do update set user_id = excluded.user_id, session_id = excluded.session_id,
       target = excluded.target, created_at = excluded.created_at
     returning *
   ) select ${COLUMNS} from s ${SESSION}`,
);

/** Stores a subscription. A browser that is subscribed already belongs to the new session. */
export async function storeSubscription(
  sql: Sql,
  subscription: NewSubscription,
): Promise<SubscriptionRow | undefined> {
  const [row] = await sql.rows(STORE, subscription);
  return row;
}

const BOUND = statement<never, { userId: string; most: number }>(
  'push.bound',
  `delete from push_subscription where id in (
     select id from push_subscription where user_id = :userId order by created_at desc, id desc offset :most)`,
);

/** Deletes the oldest subscriptions of a person beyond a number. */
export const boundSubscriptions = (sql: Sql, userId: string, most: number): Promise<unknown> =>
  sql.rows(BOUND, { userId, most });

const LIST = statement<SubscriptionRow, { userId: string }>(
  'push.list',
  `select ${COLUMNS} from push_subscription s ${SESSION}
    where s.user_id = :userId order by s.created_at desc, s.id desc`,
);

export const listSubscriptions = (sql: Sql, userId: string): Promise<SubscriptionRow[]> =>
  sql.rows(LIST, { userId });

const DELETE = statement<{ id: string }, { id: string; userId: string | null }>(
  'push.delete',
  'delete from push_subscription where id = :id and (:userId::uuid is null or user_id = :userId) returning id',
);

/** @param userId the owner; null for any. @returns false if there is no such subscription */
export const deleteSubscription = async (sql: Sql, id: string, userId: string | null): Promise<boolean> =>
  (await sql.rows(DELETE, { id, userId })).length > 0;

/*
 * Only people with a mark in the channel, its members and mentioned people can be concerned. Many people may
 * have subscriptions, so they are found from the channel.
 */
const BROWSERS = statement<{ id: string; user_id: string; origin: string }, PostedNotice>(
  'push.concerned',
  `with candidate as (
     select unnest(:mentionedUserIds::uuid[]) as user_id
      union select user_id from channel_member where channel_id = :channelId
      union select user_id from channel_reader where channel_id = :channelId
   )
   select s.id, s.user_id, s.origin
     from candidate join push_subscription s using (user_id)
     join session on session.id = s.session_id and session.expires_at > now()
     join users u on u.id = s.user_id and u.id <> :authorId and u.role <> 'pending'
     join channel c on c.id = :channelId
     left join channel_reader r on r.channel_id = c.id and r.user_id = u.id
    where ${channelAllows('read', ACCOUNT)} and ${IS_CONCERNED}`,
);

/** The browsers of the recipients of a new message. */
export const readBrowsers = (
  sql: Sql,
  { channelId, authorId, mentionedUserIds, everyone }: PostedNotice,
): Promise<{ id: string; user_id: string; origin: string }[]> =>
  sql.rows(BROWSERS, { channelId, authorId, mentionedUserIds, everyone });
