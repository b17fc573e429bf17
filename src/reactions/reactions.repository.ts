import { statement } from '../database/sql.ts';

/** How many different names a message takes. */
export const MAX_NAMES = 50;

/** What became of a reaction; no row when there is no such message. */
export const REACT = statement<{ is_added: boolean; is_full: boolean }>(
  'reaction.add',
  `with target as (
     select not exists (select from message_reaction where channel_id = $1 and message_id = $2 and name = $3)
            and (select count(distinct name) from message_reaction where channel_id = $1 and message_id = $2) >= ${MAX_NAMES}
            as is_full
       from message where channel_id = $1 and id = $2 and deleted_at is null
   ), added as (
     insert into message_reaction (channel_id, message_id, name, user_id, created_at)
     select $1, $2, $3, $4, $5::bigint from target where not is_full
     on conflict do nothing returning true
   )
   select is_full, exists (select from added) as is_added from target`,
);

export const UNREACT = statement<{ name: string }>(
  'reaction.remove',
  'delete from message_reaction where channel_id = $1 and message_id = $2 and name = $3 and user_id = $4 returning name',
);

/** Whether somebody reacted so to a message; no row when there is no such message. */
export const HAS_REACTED = statement<{ has_reacted: boolean }>(
  'reaction.has',
  `select exists (select from message_reaction r
            where r.channel_id = $1 and r.message_id = $2 and r.name = $3 and r.user_id = $4) as has_reacted
     from message m where m.channel_id = $1 and m.id = $2 and m.deleted_at is null`,
);
