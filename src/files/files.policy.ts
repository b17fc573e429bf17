import { CAN_READ } from '../channelbase/channels.policy.ts';
import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { administrator, allowedBy, type Ground, type Rule } from '../core/rules.ts';

/** The reader, and whether they may use channels. If not, messages give no access to their files. */
export interface Reader extends Caller {
  usesChannels: boolean;
}

export interface ReaderParams extends CallerParams {
  usesChannels: boolean;
}

export const readerParams = ({ usesChannels, ...caller }: Reader): ReaderParams => ({
  ...callerOf(caller),
  usesChannels,
});

const owner: Ground = { name: 'owner', holds: ({ id }) => `f.user_id = ${id}` };
const readsMessage: Ground = {
  name: 'grant',
  holds: () => `(:usesChannels::boolean and exists (
    select from message_file mf
      join message m on m.channel_id = mf.channel_id and m.id = mf.message_id and m.deleted_at is null
      join channel c on c.id = mf.channel_id
     where mf.file_id = f.id and ${CAN_READ}))`,
};

/*
 * Who may do what to a file. The readers of a message may read its files. An administrator may rename, edit
 * and delete any file, but has no right to read the files of group and direct channels, because
 * administrators cannot read their messages.
 */
const READ: Rule = [owner, readsMessage];
const WRITE: Rule = [administrator, owner];

/** SQL for the rights of the caller to the file `f`; `CAN_READ_FILE` needs `ReaderParams`. */
export const CAN_READ_FILE = allowedBy(READ, CALLER);
export const CAN_WRITE_FILE = allowedBy(WRITE, CALLER);
