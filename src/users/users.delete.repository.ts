import { statement } from '../database/sql.ts';

/*
 * What others use of an account that goes (`$1`) passes on; `$2` is the administrator who deletes it. Everything that only the
 * account itself had goes with its row: sessions, keys, identities, memberships, settings, files that no message carries,
 * user valves, reactions, read marks, notifications.
 */
export const PASS_ON_TOOLS = statement<{ id: string }>(
  'users.pass_on_tools',
  'update tool set user_id = $2 where user_id = $1 returning id',
);

/** Channels of members have people in charge instead of an owner. */
export const PASS_ON_CHANNELS = statement<{ id: string }>(
  'users.pass_on_channels',
  'update channel set user_id = $2 where user_id = $1 and type is null returning id',
);

export const PASS_ON_WEBHOOKS = statement<{ id: string }>(
  'users.pass_on_webhooks',
  'update channel_webhook set user_id = $2 where user_id = $1 returning id',
);

/**
 * Files stay with the messages that carry them. An owner may read a file, so that of a group or direct channel goes to one of its
 * people, who read it anyway: not even an administrator becomes a reader by it.
 */
export const PASS_ON_FILES = statement(
  'users.pass_on_files',
  `update file f set user_id = heir.user_id from (
     select distinct on (mf.file_id) mf.file_id,
            case when c.type is null then $2::uuid else first.user_id end as user_id
       from file owned join message_file mf on mf.file_id = owned.id join channel c on c.id = mf.channel_id
         left join lateral (
           select cm.user_id from channel_member cm where cm.channel_id = c.id and c.type is not null
            order by (cm.role = 'manager') is true desc, cm.joined_at, cm.user_id limit 1) first on true
      where owned.user_id = $1 and (c.type is null or first.user_id is not null)
      order by mf.file_id, c.type is not null, c.id) heir
    where f.id = heir.file_id`,
);

export const DELETE_GRANTS_TO_USER = statement(
  'users.delete_grants',
  `delete from access_grant where principal_type = 'user' and principal_id = $1::text`,
);
