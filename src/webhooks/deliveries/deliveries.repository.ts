import { channelAllows } from '../../channelbase/channels.policy.ts';
import { ACCOUNT, type Caller } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import type { DeliveryView, ListedDelivery } from './deliveries.schema.ts';

const INSERT = statement<{ id: string }, { deliveries: string; now: number }>(
  'delivery.insert',
  `insert into delivery (id, user_id, channel_id, message_id, kind, push_id, url, payload, status, attempts, next_attempt_at, created_at, updated_at)
   select id, user_id, channel_id, message_id, kind, push_id, url, payload, 'pending', 0, :now, :now, :now
     from jsonb_to_recordset(:deliveries::jsonb) as d
       (id uuid, user_id uuid, channel_id uuid, message_id uuid, kind text, push_id uuid, url text, payload jsonb)
    where (user_id is null or exists (select from users u where u.id = d.user_id))
      and (push_id is null or exists (select from push_subscription s where s.id = d.push_id))
   returning id`,
);

export interface NewDelivery {
  id: string;
  /** Null for the installation's own webhook. */
  user_id: string | null;
  channel_id: string | null;
  message_id: string | null;
  kind: 'webhook' | 'push';
  push_id: string | null;
  /** Sealed. */
  url: string;
  /** Empty if the payload is built from the message at sending time. */
  payload: Record<string, unknown>;
}

/**
 * Stores deliveries that are due at once; `now` is in seconds. @returns the ids of the deliveries whose user
 * still exists
 */
export async function insertDeliveries(sql: Sql, deliveries: NewDelivery[], now: number): Promise<string[]> {
  return (await sql.rows(INSERT, { deliveries: JSON.stringify(deliveries), now })).map(({ id }) => id);
}

export interface DueDelivery {
  id: string;
  user_id: string | null;
  message_id: string | null;
  kind: 'webhook' | 'push';
  /** Sealed. */
  url: string;
  payload: Record<string, unknown>;
  /** The current attempt included. */
  attempts: number;
  /** Null if the message was deleted, or the recipient may no longer read it. */
  message: DueMessage | null;
  /** The browser; null for a webhook, and if the browser is no longer subscribed. */
  browser: { id: string; endpoint_hash: string; target: string } | null;
}

export interface DueMessage {
  content: string;
  author: string | null;
  parent_id: string | null;
  channel_id: string;
  channel_name: string;
  channel_type: string | null;
}

/* The message is read at sending time: a deleted message is not sent. */
const CLAIM = statement<DueDelivery, { id: string; now: number }>(
  'delivery.claim',
  `with claimed as (
     update delivery set attempts = attempts + 1, updated_at = :now where id = :id and next_attempt_at <= :now
     returning id, user_id, channel_id, message_id, kind, push_id, url, payload, attempts
   )
   select d.id, d.user_id, d.message_id, d.kind, d.url, d.payload, d.attempts,
          case when m.id is not null then json_build_object(
            'content', m.content, 'author', a.name, 'parent_id', m.parent_id, 'channel_id', c.id,
            'channel_name', c.name, 'channel_type', c.type) end as message,
          case when s.id is not null then json_build_object(
            'id', s.id, 'endpoint_hash', s.endpoint_hash, 'target', s.target) end as browser
     from claimed d
     left join users u on u.id = d.user_id
     left join channel c on c.id = d.channel_id and u.role <> 'pending' and ${channelAllows('read', ACCOUNT)}
     left join message m on m.channel_id = c.id and m.id = d.message_id and m.deleted_at is null
     left join users a on a.id = m.user_id
     left join push_subscription s on s.id = d.push_id and s.user_id = d.user_id and exists (
       select from session where session.id = s.session_id and session.expires_at > now())`,
);

/** Starts an attempt; undefined if none is due. `now` is in seconds. */
export async function claimDelivery(sql: Sql, id: string, now: number): Promise<DueDelivery | undefined> {
  const [claimed] = await sql.rows(CLAIM, { id, now });
  return claimed;
}

const NEXT = statement<{ next_attempt_at: number }, { id: string }>(
  'delivery.next',
  'select next_attempt_at from delivery where id = :id and next_attempt_at is not null',
);

/** Time of the next attempt, in seconds; undefined if there is none. */
export async function readNextAttempt(sql: Sql, id: string): Promise<number | undefined> {
  const [row] = await sql.rows(NEXT, { id });
  return row?.next_attempt_at;
}

const SETTLE = statement<
  never,
  {
    id: string;
    attempts: number;
    status: Outcome['status'];
    next_attempt_at: number | null;
    response_status: number | null;
    error: string | null;
    now: number;
  }
>(
  'delivery.settle',
  `update delivery set status = :status, next_attempt_at = :next_attempt_at, response_status = :response_status, error = :error, updated_at = :now
    where id = :id and attempts = :attempts and status = 'pending'`,
);

export interface Outcome {
  status: 'pending' | 'delivered' | 'failed';
  /** Seconds; null if there is no further attempt. */
  next_attempt_at: number | null;
  response_status: number | null;
  error: string | null;
}

/** Stores the result of an attempt, unless another process has started the next attempt. */
export async function settleDelivery(
  sql: Sql,
  { id, attempts }: Pick<DueDelivery, 'id' | 'attempts'>,
  { status, next_attempt_at, response_status, error }: Outcome,
  now: number,
): Promise<void> {
  await sql.rows(SETTLE, { id, attempts, status, next_attempt_at, response_status, error, now });
}

const UNDO = statement<never, { id: string; attempts: number }>(
  'delivery.undo',
  `update delivery set attempts = attempts - 1 where id = :id and attempts = :attempts and status = 'pending'`,
);

/** Undoes an attempt that was interrupted. */
export async function undoClaim(
  sql: Sql,
  { id, attempts }: Pick<DueDelivery, 'id' | 'attempts'>,
): Promise<void> {
  await sql.rows(UNDO, { id, attempts });
}

const LOCK_JOBLESS = statement<never>('delivery.lock-jobless', 'select pg_advisory_xact_lock(7011507)');
const JOBLESS = statement<
  { id: string; url: string; next_attempt_at: number },
  { keyPrefix: string; afterId: string; most: number }
>(
  'delivery.jobless',
  `select id, url, next_attempt_at from delivery d
    where next_attempt_at is not null and id > :afterId and not exists (
      select from graphile_worker._private_jobs j where j.key = :keyPrefix || d.id and j.attempts < j.max_attempts)
    order by id limit :most`,
);

/**
 * Pending deliveries without a job: an older version stored them, or they come from a backup. An advisory
 * lock is held until the transaction ends, so no other process lists them meanwhile.
 */
export async function listJobless(
  tx: Sql,
  keyPrefix: string,
  afterId: string,
  most: number,
): Promise<{ id: string; url: string; next_attempt_at: number }[]> {
  await tx.rows(LOCK_JOBLESS);
  return tx.rows(JOBLESS, { keyPrefix, afterId, most });
}

const PRUNE = statement<{ count: number }, { before: number; most: number }>(
  'delivery.prune',
  `with old as materialized (
     select id from delivery where created_at < :before order by created_at limit :most for update skip locked
   ), gone as (
     delete from delivery d using old where d.id = old.id returning 1
   )
   select count(*)::int as count from gone`,
);

/** Deletes a batch of deliveries that are older than a time in seconds. @returns the number of deleted deliveries */
export async function pruneDeliveries(sql: Sql, before: number, most: number): Promise<number> {
  const [row] = await sql.rows(PRUNE, { before, most });
  return row?.count ?? 0;
}

const COLUMNS = [
  ...[
    'id',
    'channel_id',
    'message_id',
    'kind',
    'url',
    'status',
    'attempts',
    'next_attempt_at',
    'response_status',
  ],
  ...['error', 'created_at', 'updated_at'],
];
const VIEW = COLUMNS.join(', ');

const LIST = statement<DeliveryView, { userId: string; skip: number; limit: number }>(
  'delivery.list',
  `select ${VIEW} from delivery where user_id = :userId order by created_at desc, id desc limit :limit offset :skip`,
);

/** A user's deliveries, newest first; addresses are sealed. */
export const listRows = (
  sql: Sql,
  userId: string,
  page: { skip: number; limit: number },
): Promise<DeliveryView[]> => sql.rows(LIST, { userId, skip: page.skip, limit: page.limit });

const LIST_ALL = statement<ListedDelivery, { status: string | null; skip: number; limit: number }>(
  'delivery.list_all',
  `select ${COLUMNS.map((name) => `d.${name}`).join(', ')}, case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as user
     from delivery d left join users u on u.id = d.user_id
    where :status::text is null or d.status = :status
    order by d.created_at desc, d.id desc limit :limit offset :skip`,
);

/** The deliveries to all recipients, newest first; addresses are sealed. */
export const listAllRows = (
  sql: Sql,
  { status = null, skip, limit }: { status?: string | null | undefined; skip: number; limit: number },
): Promise<ListedDelivery[]> => sql.rows(LIST_ALL, { status, skip, limit });

const REDELIVER = statement<
  { was: string; row: DeliveryView | null },
  { id: string; userId: string; isAdmin: boolean; now: number }
>(
  'delivery.redeliver',
  `with one as (
     select id, status from delivery
      where id = :id and (user_id = :userId or user_id is null and :isAdmin) for update
   ), changed as (
     update delivery d set status = 'pending', attempts = 0, next_attempt_at = :now, updated_at = :now,
            response_status = null, error = null
       from one where d.id = one.id and one.status <> 'pending'
     returning d.*
   )
   select one.status as was, (select row_to_json(v) from (select ${VIEW} from changed) v) as row from one`,
);

/**
 * Administrators may also repeat the deliveries of the installation's own webhook.
 *
 * @returns undefined if the user has no such delivery; `row` is null if it is still pending
 */
export async function redeliverRow(sql: Sql, id: string, { id: userId, role }: Caller, now: number) {
  const [found] = await sql.rows(REDELIVER, { id, userId, isAdmin: role === 'admin', now });
  return found;
}
