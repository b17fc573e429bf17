import { defineNoun } from '../noun.ts';
import { passOnChannels } from './channels.deletion.repository.ts';
import { Channel } from './channels.entity.ts';
import { errors } from './channels.errors.ts';

/**
 * The row of a channel, who may do what in it, and how a change to it is logged. What lives in a channel (members, messages, reads)
 * stands on this; `channels` shows it all together.
 */
export const channelbase = defineNoun({
  name: 'channelbase',
  errors,
  entities: [Channel],
  onAccountDeleted: passOnChannels,
});
