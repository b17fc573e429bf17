import { can } from '../channels/channels.repository.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { DeliveryView } from './deliveries.schema.ts';

const INSERT = statement(
  'delivery.insert',
  `insert into delivery (id, user_id, channel_id, message_id, url, payload, status, attempts, next_attempt_at, created_at, updated_at)
   select id, user_id, channel_id, message_id, url, payload, 'pending', 0, $2, $2, $2
     from jsonb_to_recordset($1::jsonb) as d
       (id uuid, user_id uuid, channel_id uuid, message_id uuid, url text, payload jsonb)
    where user_id is null or exists (select from users u where u.id = d.user_id)`,
);

export interface NewDelivery {
  id: string;
  /** Null for the installation's own. */
  user_id: string | null;
  channel_id: string | null;
  message_id: string | null;
  /** Sealed. */
  url: string;
  /** Empty when it is made of the message, as that is when it is sent. */
  payload: Record<string, unknown>;
}

/** Stores deliveries to be made at once; `now` is in seconds. */
export async function insertDeliveries(sql: Sql, deliveries: NewDelivery[], now: number): Promise<void> {
  await sql.rows(INSERT, [JSON.stringify(deliveries), now]);
}

export interface DueDelivery {
  id: string;
  user_id: string | null;
  message_id: string | null;
  /** Sealed. */
  url: string;
  payload: Record<string, unknown>;
  /** This one included. */
  attempts: number;
  /** Null when the message is gone, or its reader may not read it any more. */
  message: { content: string; author: string | null; channel_id: string; channel_name: string } | null;
}

/*
 * Whoever claims a row has it until `$2`: should they die, it is due again then. Rows that somebody else is just claiming are
 * skipped. The message is read as it is now: what was deleted meanwhile is sent to nobody.
 */
const CLAIM = statement<DueDelivery>(
  'delivery.claim',
  `with due as (
     select id from delivery where next_attempt_at <= $1 order by next_attempt_at limit $3 for update skip locked
   ), claimed as (
     update delivery d set attempts = d.attempts + 1, next_attempt_at = $2, updated_at = $1
       from due where d.id = due.id
     returning d.id, d.user_id, d.channel_id, d.message_id, d.url, d.payload, d.attempts
   )
   select d.id, d.user_id, d.message_id, d.url, d.payload, d.attempts,
          case when m.id is not null then json_build_object(
            'content', m.content, 'author', a.name, 'channel_id', c.id, 'channel_name', c.name) end as message
     from claimed d
     left join users u on u.id = d.user_id
     left join channel c on c.id = d.channel_id and u.role <> 'pending' and ${can('read', 'u.id', "u.role = 'admin'")}
     left join message m on m.channel_id = c.id and m.id = d.message_id and m.deleted_at is null
     left join users a on a.id = m.user_id`,
);

/** Takes at most so many deliveries that are due. Times are seconds. */
export const claimDeliveries = (sql: Sql, now: number, until: number, max: number): Promise<DueDelivery[]> =>
  sql.rows(CLAIM, [now, until, max]);

const SETTLE = statement(
  'delivery.settle',
  `update delivery set status = $3, next_attempt_at = $4, response_status = $5, error = $6, updated_at = $7
    where id = $1 and attempts = $2 and status = 'pending'`,
);

export interface Outcome {
  status: 'pending' | 'delivered' | 'failed';
  /** Seconds; null when it is not tried again. */
  next_attempt_at: number | null;
  response_status: number | null;
  error: string | null;
}

/** Writes down what became of an attempt, unless somebody else has taken the delivery over since. */
export async function settleDelivery(
  sql: Sql,
  { id, attempts }: Pick<DueDelivery, 'id' | 'attempts'>,
  { status, next_attempt_at, response_status, error }: Outcome,
  now: number,
): Promise<void> {
  await sql.rows(SETTLE, [id, attempts, status, next_attempt_at, response_status, error, now]);
}

const DEFER = statement(
  'delivery.defer',
  `update delivery d set attempts = d.attempts - 1, next_attempt_at = o.until
     from jsonb_to_recordset($1::jsonb) as o (id uuid, attempts int, until int)
    where d.id = o.id and d.attempts = o.attempts and d.status = 'pending'`,
);

/** Gives deliveries back untried, each until a time in seconds. */
export async function deferDeliveries(
  sql: Sql,
  deferred: { id: string; attempts: number; until: number }[],
): Promise<void> {
  const given = deferred.map(({ id, attempts, until }) => ({ id, attempts, until }));
  await sql.rows(DEFER, [JSON.stringify(given)]);
}

const PRUNE = statement('delivery.prune', 'delete from delivery where created_at < $1');

/** Forgets deliveries that are older than a time in seconds. */
export async function pruneDeliveries(sql: Sql, before: number): Promise<void> {
  await sql.rows(PRUNE, [before]);
}

const VIEW = `id, channel_id, message_id, url, status, attempts, next_attempt_at, response_status, error, created_at, updated_at`;

const LIST = statement<DeliveryView>(
  'delivery.list',
  `select ${VIEW} from delivery where user_id = $1 order by created_at desc, id desc limit $3 offset $2`,
);

/** A person's deliveries, newest first; addresses are sealed. */
export const listRows = (
  sql: Sql,
  userId: string,
  page: { skip: number; limit: number },
): Promise<DeliveryView[]> => sql.rows(LIST, [userId, page.skip, page.limit]);

const REDELIVER = statement<{ was: string; row: DeliveryView | null }>(
  'delivery.redeliver',
  `with one as (
     select id, status from delivery where id = $1 and user_id = $2 for update
   ), changed as (
     update delivery d set status = 'pending', attempts = 0, next_attempt_at = $3, updated_at = $3,
            response_status = null, error = null
       from one where d.id = one.id and one.status <> 'pending'
     returning d.*
   )
   select one.status as was, (select row_to_json(v) from (select ${VIEW} from changed) v) as row from one`,
);

/** @returns undefined when the person has no such delivery; `row` is null when it is still on its way */
export async function redeliverRow(sql: Sql, id: string, userId: string, now: number) {
  const [found] = await sql.rows(REDELIVER, [id, userId, now]);
  return found;
}
