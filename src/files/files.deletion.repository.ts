import { statement } from '../database/sql.ts';
import type { OnAccountDeleted } from '../noun.ts';

/**
 * Files stay with the messages that carry them. The owner of a file may read it, so a file in a group or
 * direct channel passes to one of the channel's members, who can read it already. An administrator does not
 * become a reader this way.
 */
const PASS_ON_FILES = statement<never, { deleted: string; heir: string }>(
  'files.pass_on',
  `update file f set user_id = heir.user_id from (
     select distinct on (mf.file_id) mf.file_id,
            case when c.type is null then :heir::uuid else first.user_id end as user_id
       from file owned join message_file mf on mf.file_id = owned.id join channel c on c.id = mf.channel_id
         left join lateral (
           select cm.user_id from channel_member cm where cm.channel_id = c.id and c.type is not null
            order by (cm.role = 'manager') is true desc, cm.joined_at, cm.user_id limit 1) first on true
      where owned.user_id = :deleted and (c.type is null or first.user_id is not null)
      order by mf.file_id, c.type is not null, c.id) heir
    where f.id = heir.file_id`,
);

export const passOnFiles: OnAccountDeleted = async (_scope, tx, { deleted, heir }) => {
  await tx.rows(PASS_ON_FILES, { deleted, heir });
  return {};
};
