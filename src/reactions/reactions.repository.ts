import { statement } from '../database/sql.ts';

/** The maximum of different names on one message. */
export const MAX_NAMES = 50;

/** The outcome of a reaction; no row if the message does not exist. */
export const REACT = statement<
  { is_added: boolean; is_full: boolean },
  { channelId: string; messageId: string; name: string; userId: string; at: string }
>(
  'reaction.add',
  `with target as (
     select not exists (select from message_reaction where channel_id = :channelId and message_id = :messageId and name = :name)
            and (select count(distinct name) from message_reaction where channel_id = :channelId and message_id = :messageId) >= ${MAX_NAMES}
            as is_full
       from message where channel_id = :channelId and id = :messageId and deleted_at is null
   ), added as (
     insert into message_reaction (channel_id, message_id, name, user_id, created_at)
     select :channelId, :messageId, :name, :userId, :at::bigint from target where not is_full
     on conflict do nothing returning true
   )
   select is_full, exists (select from added) as is_added from target`,
);

export const UNREACT = statement<
  { name: string },
  { channelId: string; messageId: string; name: string; userId: string }
>(
  'reaction.remove',
  'delete from message_reaction where channel_id = :channelId and message_id = :messageId and name = :name and user_id = :userId returning name',
);

/** Whether a person has reacted with this name; no row if the message does not exist. */
export const HAS_REACTED = statement<
  { has_reacted: boolean },
  { channelId: string; messageId: string; name: string; userId: string }
>(
  'reaction.has',
  `select exists (select from message_reaction r
            where r.channel_id = :channelId and r.message_id = :messageId and r.name = :name and r.user_id = :userId) as has_reacted
     from message m where m.channel_id = :channelId and m.id = :messageId and m.deleted_at is null`,
);
