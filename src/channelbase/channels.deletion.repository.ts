import { statement } from '../database/sql.ts';
import type { OnAccountDeleted } from '../noun.ts';

/** Only standard channels have an owner. */
const PASS_ON_CHANNELS = statement<{ id: string }, { deleted: string; heir: string }>(
  'channels.pass_on',
  'update channel set user_id = :heir where user_id = :deleted and type is null returning id',
);

export const passOnChannels: OnAccountDeleted = async (_scope, tx, { deleted, heir }) => ({
  passed: { channels: (await tx.rows(PASS_ON_CHANNELS, { deleted, heir })).map(({ id }) => id) },
});
